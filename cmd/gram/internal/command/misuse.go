package command

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// OwnTexts has every command refuse wrong arguments and flags in our words: cobra's name counts of arguments, and Go's
// the functions that parse.
func OwnTexts(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagMisuse)
	for _, sub := range cmd.Commands() {
		OwnTexts(sub)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var own *exit.Failure
		if err == nil || errors.As(err, &own) {
			return err
		}
		return argumentMisuse(cmd, args)
	}
}

// insteadOf says what does the thing for which a verb was given an argument that it does not take.
var insteadOf = map[string]string{
	"gram submit":           "A spec file is named with -f: `gram submit -f %s`.",
	"gram run":              "A spec file is named with -f: `gram run -f %s`.",
	"gram schedule create":  "A spec file is named with -f: `gram schedule create -f %s`.",
	"gram list":             "`gram status %s` shows one job.",
	"gram model list":       "`gram model show %s` shows one model.",
	"gram schedule list":    "`gram schedule show %s` shows one schedule.",
	"gram cluster status":   "`gram status %s` shows a job.",
	"gram schedule release": "It releases every schedule that is held.",
}

// wanted are the nouns of the arguments in usage lines.
var wanted = map[string]string{"JOB": "a job", "ID": "an id", "NAME": "a name", "FILE": "a file", "URI": "a URI",
	"ADDRESS": "an address"}

func argumentMisuse(cmd *cobra.Command, args []string) error {
	var all, required []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if noun := strings.Trim(word, "[].,"); noun == "" || noun != strings.ToUpper(noun) ||
			strings.HasPrefix(word, "-") {
			break // flags, and their values, come last
		}
		if all = append(all, word); !strings.HasPrefix(word, "[") {
			required = append(required, word)
		}
	}
	path := cmd.CommandPath()
	usage := strings.Join(append([]string{path}, all...), " ")
	f := &exit.Failure{Code: exit.Usage, Hint: fmt.Sprintf("`%s --help` shows how.", path)}
	switch {
	case len(all) == 0:
		f.What = fmt.Sprintf("%s takes no argument, and %q is one", path, args[0])
		if instead := insteadOf[path]; instead != "" {
			f.Hint = instead
			if strings.Contains(instead, "%s") {
				f.Hint = fmt.Sprintf(instead, args[0])
			}
		}
	case len(args) < len(required):
		noun := strings.Trim(strings.Split(required[len(args)], "|")[0], "[].,")
		if i := strings.IndexByte(noun, '['); i >= 0 {
			noun = noun[:i]
		}
		if word := wanted[noun]; word != "" {
			noun = word
		}
		if noun == "an id" {
			noun = map[string]string{"schedule": "a schedule", "token": "a token",
				"cluster": "a member"}[cmd.Parent().Name()]
			noun = cmp.Or(noun, "a job")
		}
		f.What = fmt.Sprintf("name %s: %s", noun, usage)
	default:
		f.What = fmt.Sprintf("%q is an argument too many: %s", args[len(all)], usage)
	}
	return f
}

// otherFlags are flags of other tools, and what does the same here.
var otherFlags = map[string]string{
	"dry-run": "`gram schedule preview` and `gram cluster sweep` have it; `gram status ID -o json` shows a job's " +
		"spec with every default",
	"follow": "`gram logs -f` and `gram wait` follow a job",
	"watch":  "`gram wait JOB` follows a job, `gram logs -f JOB` its log",
	"for":    "`gram wait JOB` waits for the end of a job",
	"tail":   "`gram logs JOB | tail` shows the last lines",
	"since":  "`gram logs -o json` has the time of each line",
}

// flagMisuse explains a flag that is not known, or a value that it does not take.
func flagMisuse(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("`%s --help` shows how.", cmd.CommandPath())
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := protocol.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("Did you mean --%s?", near)
		} else if other := otherFlags[name]; other != "" {
			hint = strings.ToUpper(other[:1]) + other[1:] + "."
		}
	case errors.As(err, &invalid):
		if wants := flagWants[invalid.GetFlag().Value.Type()]; wants != "" {
			return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--%s wants %s, not %.80q", invalid.GetFlag().Name,
				wants, invalid.GetValue()), Hint: hint, Cause: err}
		}
		return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()),
			Hint: hint, Cause: err}
	}
	return &exit.Failure{Code: exit.Usage, What: err.Error(), Hint: hint, Cause: err}
}

// flagWants names what flags of a type of pflag take.
var flagWants = map[string]string{
	"bool": "true or false", "int": "a whole number", "int32": "a whole number", "int64": "a whole number",
	"uint":   "a whole number from 0 on",
	"uint32": "a whole number from 0 on", "uint64": "a whole number from 0 on", "float64": "a number",
	"duration": "a time with its unit, such as 5s, 5m or 5h",
}

// KnownTopics has help refuse what is no command: cobra prints the help of gram, as if that had been asked for.
func KnownTopics(help *cobra.Command) {
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if _, rest, err := cmd.Root().Find(args); err != nil {
			return unknownVerb(cmd.Root(), rest[0])
		}
		show(cmd, args)
		return nil
	}
}

// MissingFlags names the flags that a command cannot do without.
func MissingFlags(cmd *cobra.Command) error {
	if cmd.ValidateRequiredFlags() == nil {
		return nil
	}
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if required := f.Annotations[cobra.BashCompOneRequiredFlag]; len(required) == 0 || required[0] != "true" ||
			f.Changed {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name += " (-" + f.Shorthand + ")"
		}
		missing = append(missing, name)
	})
	return &exit.Failure{Code: exit.Usage,
		What: fmt.Sprintf("%s wants %s", cmd.CommandPath(), strings.Join(missing, " and ")),
		Hint: fmt.Sprintf("`%s --help` shows how.", cmd.CommandPath())}
}

// UsageError is an error of the command line itself.
func UsageError(err error, root *cobra.Command, args []string) error {
	var own *exit.Failure
	if errors.As(err, &own) {
		return own
	}
	cmd, _, findErr := root.Find(args)
	if rest, ok := strings.CutPrefix(err.Error(), "unknown command "); ok && findErr != nil {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			word, _ := strconv.Unquote(quoted) // a prefix that is quoted can be unquoted
			return unknownVerb(root, word)
		}
	}
	if findErr != nil || cmd == nil {
		cmd = root
	}
	return &exit.Failure{Code: exit.Usage, What: err.Error(),
		Hint: fmt.Sprintf("`%s --help` shows how.", cmd.CommandPath())}
}
