package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

// maxModelBytes bounds what a client loads.
const maxModelBytes = 8 << 30

// maxColumns bounds the lines of what people read.
const maxColumns = 80

func (a *app) modelCommand() *cobra.Command {
	return group("model", "List, fetch, name and look at models, predict with and teach them",
		"  gram model list\n  gram model show glosses-k3f9p2\n  gram model classify --model glosses-k3f9p2 'a large cat'",
		a.modelListCommand(), a.modelGetCommand(), a.modelShowCommand(), a.modelClassifyCommand(), a.modelLearnCommand(),
		a.modelAliasCommand(), a.modelRemoveCommand())
}

func (a *app) modelShowCommand() *cobra.Command {
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
			m, err := a.loadModel(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				return a.printJSON(viewModel(m))
			}
			if m.kind.Describe == nil {
				return fmt.Errorf("a model of kind %s has no description for people; -o json lists its arrays", m.kind.Name)
			}
			text, err := m.kind.Describe(m.arrays, opt)
			if err != nil {
				return withoutSpec(err, exitUsage)
			}
			fmt.Fprintln(a.out, terminal.Wrap(protocol.VisibleLines(strings.TrimRight(text, "\n")), maxColumns))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&opt.Classes, "class", nil, "only these `classes`; may be repeated (default a few)")
	cmd.Flags().IntVar(&opt.Top, "top", 10, "this `many` words per class")
	return cmd
}

// withoutSpec is for what a kind refuses of options or of a model where there is no spec.
func withoutSpec(err error, code int) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Code == protocol.CodeSpecInvalid {
		return &failure{code: code, what: fault.What, hint: fault.Hint, cause: err}
	}
	return err
}

// model is a loaded model.
type model struct {
	kind   jobs.Kind
	arrays jobs.Arrays
	sha256 string
	uri    string
}

// loadModel reads the model of a job, a file or a URI.
func (a *app) loadModel(ctx context.Context, from string) (*model, error) {
	uri, want := "", ""
	if strings.ContainsAny(from, "./") {
		uri = specfile.AbsoluteURI(from, a.dir)
		if strings.HasSuffix(from, "/") {
			uri = a.folder(from) + worker.ModelFile
		}
	} else {
		c, err := a.connect()
		if err != nil {
			return nil, err
		}
		job, err := c.find(ctx, from)
		if err != nil {
			return nil, err
		}
		output, err := modelOf(job)
		if err != nil {
			return nil, err
		}
		uri, want = output.GetUri(), hex.EncodeToString(output.GetSha256())
	}
	data, err := readObject(ctx, uri, maxModelBytes, want)
	if err != nil {
		return nil, err
	}
	m := &model{sha256: digestOf(data), uri: uri}
	if m.arrays, err = jobs.Decode(data); err != nil {
		return nil, &failure{code: exitFailed, what: uri + " is not a model", why: err}
	}
	if m.kind, err = all.OfModel(m.arrays); err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	return m, nil
}

func modelOf(job *gramv1.Job) (*gramv1.OutputFile, error) {
	for _, o := range job.GetOutputs() {
		if o.GetName() == worker.ModelFile {
			return o, nil
		}
	}
	if !ended(job.GetState()) {
		return nil, &failure{code: exitFailed, what: "job " + job.GetId() + " has no model yet",
			hint: "`gram wait " + job.GetId() + "` follows it to its end."}
	}
	if err := outcome(job); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("job %s made no model", job.GetId())
}

// readObject reads one object with this process's own rights and credentials. Unless want
// is "", it refuses bytes of another SHA-256.
func readObject(ctx context.Context, uri string, limit int64, want string) ([]byte, error) {
	storeURI, key, err := objstore.SplitObjectURI(uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	store, err := openAnywhere(ctx, storeURI, true)
	if err != nil {
		return nil, err
	}
	data, _, err := objstore.ReadAll(ctx, store, key, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, err
	}
	if got := digestOf(data); want != "" && got != want {
		return nil, &failure{code: exitFailed, what: uri + " is not the object that the job made",
			why: fmt.Errorf("its SHA-256 is %s, the job's is %s", got, want)}
	}
	return data, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
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
	v := modelView{SchemaVersion: schemaVersion, Kind: m.kind.Name, SHA256: m.sha256, Arrays: []arrayView{}}
	for _, name := range slices.Sorted(maps.Keys(m.arrays)) {
		array := m.arrays[name]
		v.Arrays = append(v.Arrays, arrayView{name, string(array.DType), append([]int{}, array.Shape...)})
	}
	return v
}
