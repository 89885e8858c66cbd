package main

import (
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/spf13/cobra"
)

func rootCommand(a *app) *cobra.Command {
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
			if err := command.MissingFlags(cmd); err != nil {
				return err // cobra looks only later, when errors no longer count as usage
			}
			a.parsed = true
			return a.flags.configure(cmd.Flags(), a.getenv, a.dir)
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetHelpTemplate(command.HelpTemplate)
	root.SetUsageTemplate(command.HelpTemplate)
	root.CompletionOptions.HiddenDefaultCmd = false
	a.flags.add(root.PersistentFlags())
	command.AddGroup(root, "jobs", "Jobs:", runCommand(a), planCommand(a), submitCommand(a),
		waitCommand(a), statusCommand(a), explainCommand(a), listCommand(a), logsCommand(a), reportCommand(a),
		getCommand(a), verifyCommand(a), diffCommand(a), cancelCommand(a))
	command.AddGroup(root, "schedules", "Schedules:", scheduleCommand(a))
	command.AddGroup(root, "models", "Models:", modelCommand(a), signCommand(a))
	command.AddGroup(root, "data", "Data:", datasetCommand(a))
	command.AddGroup(root, "cluster", "Clusters:", devCommand(a), coordinatorCommand(a), workerCommand(a),
		clusterCommand(a), healthCommand(a), tokenCommand(a), pkiCommand(a))
	command.AddGroup(root, "other", "Other:", kindsCommand(a), benchCommand(a), configCommand(a),
		versionCommand(a))
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		command.KnownTopics(help)
	}
	root.DisableSuggestions = true // unknownVerb makes them
	command.OwnTexts(root)
	return root
}
