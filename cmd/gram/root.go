package main

import (
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flags are those that every verb knows.
type flags struct {
	output string // "table" or "json", once the command line is parsed
	color  string
	quiet  bool
	cert   string // files of a worker's certificate and key
	key    string
	config clientconfig.Config
}

// connectionFlags are looked up in the configuration under the same names.
var connectionFlags = []string{"addr", "cacert", "token-file", "context", "output", "color"}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "gram",
		Short: "Classical machine learning on ordinary CPUs, on one machine or many",
		Example: `  gram run -f examples/glosses.yaml        train here, without a cluster
  gram dev                                 start a cluster on this machine
  gram submit -f examples/glosses.yaml     hand the job to the cluster
  gram wait glosses-k3f9p2                 follow it to its end
  gram model show glosses-k3f9p2           look at what it learned`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := missingFlags(cmd); err != nil {
				return err // cobra looks only later, when errors no longer count as usage
			}
			a.parsed = true
			return a.configure(cmd.Flags())
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(helpTemplate)
	root.CompletionOptions.HiddenDefaultCmd = false
	a.globalFlags(root.PersistentFlags())
	addGroup(root, "jobs", "Jobs:", a.runCommand(), a.submitCommand(), a.waitCommand(),
		a.statusCommand(), a.explainCommand(), a.listCommand(), a.logsCommand(), a.reportCommand(), a.getCommand(), a.cancelCommand())
	addGroup(root, "schedules", "Schedules:", a.scheduleCommand())
	addGroup(root, "models", "Models:", a.modelCommand())
	addGroup(root, "cluster", "Clusters:", a.devCommand(), a.coordinatorCommand(), a.workerCommand(), a.clusterCommand(), a.healthCommand(), a.tokenCommand(), a.pkiCommand())
	addGroup(root, "other", "Other:", a.configCommand(), a.versionCommand())
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		knownTopics(help)
	}
	root.DisableSuggestions = true // unknownVerb makes them
	ownTexts(root)
	return root
}

func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

func (a *app) globalFlags(set *pflag.FlagSet) {
	set.String("addr", "", "coordinators, `host:port`, several with commas")
	set.String("cacert", "", "`file` with the certificates to trust")
	set.String("token-file", "", "`file` with the token, mode 0600")
	set.String("context", "", "`name` of a cluster in the configuration")
	set.StringP("output", "o", "", "output `format`: table or json")
	set.String("color", "", "`when` to color: auto, always or never")
	set.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no progress, no notes")
}

// configure gathers the settings of this invocation.
func (a *app) configure(set *pflag.FlagSet) error {
	given := map[string]string{}
	for _, name := range connectionFlags {
		if f := set.Lookup(name); f != nil && f.Changed {
			given[name] = f.Value.String()
		}
	}
	a.flags.color = given["color"] // for the error below, should there be one
	cfg, err := clientconfig.Load(clientconfig.Sources{Flags: given, Getenv: a.getenv, Dir: a.dir})
	if err != nil {
		return &failure{code: exitUsage, what: err.Error()}
	}
	a.flags.config, a.flags.output, a.flags.color = cfg, cfg.Output.Text, cfg.Color.Text
	return nil
}

// group is a command that only holds others.
func group(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownVerb(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	g.AddCommand(commands...)
	return g
}

// helpTemplate puts the examples first.
const helpTemplate = `{{.Short}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}{{if .Long}}
{{.Long}}
{{end}}
Usage:{{if or .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}
Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{else}}{{range $group := .Groups}}
{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Flags of every verb:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}`
