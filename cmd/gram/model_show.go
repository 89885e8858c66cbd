package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

func modelShowCommand(a *app) *cobra.Command {
	var opt jobs.DescribeOptions
	cmd := &cobra.Command{
		Use:   "show JOB|FILE|URI",
		Short: "Print what a model learned",
		Example: `  gram model show glosses-k3f9p2
  gram model show ./model.safetensors --class noun.animal --top 20
  gram model show s3://models/glosses/model.safetensors`,
		Long: `A word without "." and "/" names a job: its id, SCHEDULE@latest for the latest
success of a schedule, or @ALIAS. All else is a file or a URI; one that ends in
"/" is the folder that a job left.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := loadModel(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				return a.printJSON(viewModel(m))
			}
			if m.kind.Describe == nil {
				return fmt.Errorf("a model of kind %s has no description for people; -o json lists its arrays",
					m.kind.Name)
			}
			text, err := m.kind.Describe(m.arrays, opt)
			if err != nil {
				return exit.WithoutSpec(err, exit.Usage)
			}
			fmt.Fprintln(a.out, terminal.Wrap(protocol.VisibleLines(strings.TrimRight(text, "\n")), terminal.Columns))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&opt.Classes, "class", nil, "only these `classes`; may be repeated (default a few)")
	cmd.Flags().IntVar(&opt.Top, "top", 10, "this `many` words per class")
	return cmd
}

type modelView struct {
	SchemaVersion int         `json:"schema_version"`
	Kind          string      `json:"kind"`
	SHA256        string      `json:"sha256"`
	Arrays        []arrayView `json:"arrays"`
}

type arrayView struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

func viewModel(m *model) modelView {
	v := modelView{SchemaVersion: show.SchemaVersion, Kind: m.kind.Name, SHA256: m.sha256, Arrays: []arrayView{}}
	for _, name := range slices.Sorted(maps.Keys(m.arrays)) {
		array := m.arrays[name]
		v.Arrays = append(v.Arrays, arrayView{name, string(array.DType), append([]int{}, array.Shape...)})
	}
	return v
}
