package main

import (
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

const inParams = "spec.params."

// setCompletion completes --set: the fields of a spec, the parameters of the kind that the file of -f names, and the
// values of those that have choices.
func setCompletion(file *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completeSet(*file, typed)
	}
}

func completeSet(file, typed string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	var list []params.Parameter
	if kind, err := all.Lookup(specfile.KindOf(file)); err == nil {
		list = kind.Params.List()
	}
	if name, _, ok := strings.Cut(typed, "="); ok {
		var found []string
		for _, value := range params.Values(list, strings.TrimPrefix(name, inParams)) {
			found = append(found, name+"="+value)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, row := range params.Rows(list) {
		if row.Type != params.TypeSection {
			found = append(found, cobra.CompletionWithDesc(inParams+row.Name+"=", row.Doc))
		}
	}
	for _, name := range protocol.FieldsBelow(protocol.JobSpec{}) {
		found = append(found, name+"=")
	}
	return found, more
}
