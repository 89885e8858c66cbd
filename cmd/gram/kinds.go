package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

// kindView is a kind as `kinds -o json` prints it.
type kindView struct {
	Kind       string       `json:"kind"`
	Summary    string       `json:"summary"`
	Queries    bool         `json:"queries"` // it reads spec.queries
	Model      bool         `json:"model"`   // it reads spec.model
	Parameters []params.Row `json:"parameters"`
}

type kindsView struct {
	SchemaVersion int        `json:"schema_version"`
	Kinds         []kindView `json:"kinds"`
}

func kindsCommand(a *app) *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use:   "kinds [KIND]",
		Short: "List the kinds of jobs, or the parameters of one",
		Example: `  gram kinds
  gram kinds KMeans
  gram kinds --schema > gram.schema.json`,
		Long: `Without KIND every kind is listed with a sentence. With KIND its parameters are:
name in spec.params, default, values and meaning. --schema prints the JSON
Schema of specs, for editors that complete and check YAML by one.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeKind,
		RunE: func(_ *cobra.Command, args []string) error {
			if schema {
				return a.printJSON(all.Schema())
			}
			kinds := all.Kinds()
			if len(args) == 1 {
				kind, err := all.Lookup(args[0])
				if err != nil {
					return exit.AsUsage(unknownKind(err))
				}
				kinds = []jobs.Kind{kind}
			}
			return printKinds(a, kinds, len(args) == 1)
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of specs")
	return cmd
}

// unknownKind is the fault of a kind's name without its code: no spec was read.
func unknownKind(err error) error {
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		return err
	}
	return fmt.Errorf("%s. %s", fault.What, fault.Hint)
}

func completeKind(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, kind := range all.Kinds() {
		names = append(names, cobra.CompletionWithDesc(kind.Name, kind.Summary))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func printKinds(a *app, kinds []jobs.Kind, whole bool) error {
	if a.flags.output == "json" {
		view := kindsView{SchemaVersion: show.SchemaVersion}
		for _, k := range kinds {
			rows := params.Rows(k.Params.List())
			view.Kinds = append(view.Kinds, kindView{k.Name, k.Summary, k.UsesQueries, k.UsesModel, rows})
		}
		return a.printJSON(view)
	}
	var table terminal.Table
	for _, k := range kinds {
		if whole {
			printKind(a, k)
			return nil
		}
		table.Row(k.Name, k.Summary)
	}
	table.Write(a.out)
	return nil
}

// printKind prints the parameters of a kind, each with its meaning below.
func printKind(a *app, k jobs.Kind) {
	fmt.Fprintf(a.out, "%s: %s\n", k.Name, k.Summary)
	for _, r := range params.Rows(k.Params.List()) {
		facts := r.Type
		if r.Values != "" {
			facts += ": " + r.Values
		}
		switch {
		case strings.HasPrefix(r.Default, "required"):
			facts += "; " + r.Default
		case r.Default != "":
			facts += "; default " + r.Default
		}
		fmt.Fprintf(a.out, "\n%s (%s)\n", r.Name, facts)
		// Wrap indents what follows the first line by two.
		fmt.Fprintln(a.out, "  "+terminal.Wrap(strings.TrimSpace(r.Doc+" "+r.From), terminal.Columns-2))
	}
}
