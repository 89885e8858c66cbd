package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/inspect"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

func datasetCommand(a *app) *cobra.Command {
	return command.Group("dataset", "Look at records before anything is trained on them",
		"  gram dataset inspect -f examples/glosses.yaml\n  gram dataset sample data/irises.csv -n 5",
		datasetInspectCommand(a), datasetSampleCommand(a))
}

// inputFlags say which data sets to read.
type inputFlags struct {
	file string
	sets []string
	seed uint64
}

func (i *inputFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVarP(&i.file, "file", "f", "", "read spec.input of this spec `file`; - reads stdin")
	set.StringArrayVar(&i.sets, "set", nil, "set a field of the spec: `field.field=value`; may be repeated")
	set.Uint64Var(&i.seed, "seed", 1, "`seed` for choosing the records that are shown")
}

// suffixes are those of formats that need no further field.
var suffixes = map[string]string{".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy",
	".npz": "npz", ".libsvm": "libsvm", ".svm": "libsvm", ".fvecs": "fvecs", ".bvecs": "bvecs", ".ivecs": "ivecs",
	".eml": "mail", ".txt": "document"}

// inputs are the data sets of the command line: those of URIs or that of a spec, with defaults, checked.
func (a *app) inputs(from inputFlags, uris []string) (list []protocol.Input, err error) {
	if (from.file == "") == (len(uris) == 0) {
		return nil, &exit.Failure{Code: exit.Usage, What: "name data sets by URI, or a spec by -f",
			Hint: "Such as: gram dataset inspect data/irises.csv --set spec.input.label=5"}
	}
	sources := []specfile.Source{{Path: from.file, Stdin: a.in, Sets: from.sets}}
	if from.file == "" {
		sources = nil
	}
	for _, uri := range uris {
		format := suffixes[path.Ext(strings.TrimSuffix(uri, ".gz"))]
		input := map[string]string{"uri": specfile.AbsoluteURI(uri, a.dir), "format": format}
		document, err := json.Marshal(map[string]any{"apiVersion": protocol.APIVersion, "kind": "Dataset",
			"metadata": map[string]any{}, "spec": map[string]any{"input": input}})
		if err != nil {
			return nil, err
		}
		sources = append(sources, specfile.Source{Path: "-", Stdin: bytes.NewReader(document), Sets: from.sets})
	}
	for _, source := range sources {
		spec, err := specfile.Load(source)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		in := spec.Spec.Input.WithDefaults()
		if in.Format == "" {
			return nil, &exit.Failure{Code: exit.Usage, What: in.URI + " does not tell its format by its name",
				Hint: "Add --set spec.input.format=csv, or one of: " + strings.Join(protocol.Formats(), ", ") + "."}
		}
		if err := in.Validate("spec.input"); err != nil {
			return nil, exit.AsUsage(err)
		}
		list = append(list, in)
	}
	return list, nil
}

// each opens the data sets one at a time. A fault of the data is one of the command.
func (a *app) each(ctx context.Context, list []protocol.Input, do func(*inspect.Opened) error) error {
	for _, in := range list {
		opened, err := inspect.Open(ctx, in)
		if err == nil {
			err = do(opened)
		}
		if err != nil {
			return exit.WithoutSpec(err, exit.Failed)
		}
	}
	return nil
}

func datasetInspectCommand(a *app) *cobra.Command {
	var from inputFlags
	var pictures int
	cmd := &cobra.Command{
		Use:   "inspect [-f FILE | URI...]",
		Short: "Say what records a data set has: columns, ranges, labels, words",
		Example: `  gram dataset inspect -f examples/digits-linear.yaml
  gram dataset inspect data/irises.csv --set spec.input.header=true
  gram dataset inspect s3://b/in/ --set spec.input.format=csv -o json`,
		Long: `Reads all records as a job does, of spec.input of a spec or of URIs, and reports
ranges, missing values and distinct values of columns, labels with their
records, how full sparse vectors are, and the words of texts. Vectors that may
be square pictures are drawn, some of them. The format of a URI is told by its
name; --set gives the other fields of spec.input. The kind and params of the
spec are not looked at. A record that cannot be read ends the command with 1.`,
		RunE: func(cmd *cobra.Command, uris []string) error {
			if err := local.CheckCount("pictures", pictures); err != nil {
				return err
			}
			list, err := a.inputs(from, uris)
			if err != nil {
				return err
			}
			var all []*inspect.Survey
			err = a.each(cmd.Context(), list, func(o *inspect.Opened) error {
				survey, err := o.Survey(cmd.Context(), from.seed, pictures)
				if err != nil {
					return err
				}
				if all = append(all, survey); a.flags.output != "json" {
					if len(all) > 1 {
						fmt.Fprintln(a.out)
					}
					survey.Write(a.out, show.Size)
				}
				return nil
			})
			if err != nil || a.flags.output != "json" {
				return err
			}
			return a.printJSON(struct {
				SchemaVersion int               `json:"schema_version"`
				DataSets      []*inspect.Survey `json:"data_sets"`
			}{show.SchemaVersion, all})
		},
	}
	from.add(cmd)
	cmd.Flags().IntVar(&pictures, "pictures", 4, "draw this `many` records, if they may be pictures")
	return cmd
}

func datasetSampleCommand(a *app) *cobra.Command {
	var from inputFlags
	var n int
	cmd := &cobra.Command{
		Use:   "sample [-f FILE | URI...]",
		Short: "Print some records, drawn by a seed",
		Example: `  gram dataset sample -f examples/glosses.yaml
  gram dataset sample data/irises.csv -n 3 --seed 7 -o json`,
		Long: `Prints records in the order of numbers that are drawn for their identities: the
same records for the same seed, however the input is cut into shards; with
spec.input.id also however it is cut into files. With -o json a record is one
line, in full but for its group.`,
		RunE: func(cmd *cobra.Command, uris []string) error {
			if err := local.CheckCount("records", n); err != nil {
				return err
			}
			list, err := a.inputs(from, uris)
			if err != nil {
				return err
			}
			return a.each(cmd.Context(), list, func(o *inspect.Opened) error {
				records, err := o.Sample(cmd.Context(), from.seed, n)
				if err != nil {
					return err
				}
				for _, r := range records {
					if a.flags.output == "json" {
						err = a.printLine(r)
					} else {
						_, err = fmt.Fprintln(a.out, r.Line())
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	from.add(cmd)
	cmd.Flags().IntVarP(&n, "records", "n", 10, "print this `many` records")
	return cmd
}
