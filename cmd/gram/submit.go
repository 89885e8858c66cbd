package main

import (
	"context"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// specFlags say which spec to read.
type specFlags struct {
	file string
	sets []string
}

func (s *specFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.file, "file", "f", "", "spec `file`, YAML or JSON; - reads stdin")
	cmd.Flags().StringArrayVar(&s.sets, "set", nil, "set a field of the spec: `field.field=value`; may be repeated")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic(err) // the flag is defined two lines above
	}
	if err := cmd.RegisterFlagCompletionFunc("set", setCompletion(&s.file)); err != nil {
		panic(err) // as above
	}
}

// load reads the spec, writes every default in and validates it, as the coordinator does again.
func load(a *app, s specFlags) (protocol.JobSpec, error) {
	spec, err := specfile.Load(specfile.Source{Path: s.file, Stdin: a.in, Sets: s.sets, Params: all.Params})
	if err == nil {
		spec, err = all.Validate(spec)
	}
	if err != nil {
		return spec, exit.AsUsage(err)
	}
	return spec, nil
}

func submitCommand(a *app) *cobra.Command {
	var from specFlags
	var id string
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "submit -f FILE",
		Short: "Hand a job to the cluster; prints its id",
		Example: `  gram submit -f examples/glosses.yaml
  gram submit -f spec.yaml --set spec.params.alpha=0.1 --wait
  id=$(gram submit -f spec.yaml) && gram wait "$id"
  gram submit -f spec.yaml --id nightly-2026-11-21`,
		Long: `Submitting is safe to repeat: the same --id with the same spec is the same job.
With another spec it is a conflict (exit code 5). Relative file paths in a
spec count from the spec's folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := load(a, from)
			if err != nil {
				return err
			}
			if id == "" {
				id = protocol.NewJobID(spec.Metadata.Name, spec.Kind)
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := submit(cmd.Context(), a, c, id, spec); err != nil || !wait {
				return err
			}
			return awaitJobs(cmd.Context(), a, c, []string{id}, timeout, false)
		},
	}
	from.add(cmd)
	cmd.Flags().StringVar(&id, "id", "", "`id` of the job: a-z, 0-9 and -, at most 63 (default name and a suffix)")
	cmd.Flags().BoolVar(&wait, "wait", false, "follow the job to its end, as gram wait does")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "with --wait: give up waiting after this `time`")
	return cmd
}

// submit hands the job in, again and again while the cluster is not reachable.
func submit(ctx context.Context, a *app, c *client.Cluster, id string, spec protocol.JobSpec) error {
	canonical, err := spec.Canonical()
	if err != nil {
		return err
	}
	l := a.link()
	var answer *gramv1.SubmitResponse
	err = l.Keep(ctx, func(ctx context.Context) error {
		answer, err = c.Submit(ctx, id, string(canonical))
		if err == nil {
			l.Up()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !answer.GetCreated() {
		a.note("gram: job %s was there already, with the same spec", id)
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int    `json:"schema_version"`
			ID            string `json:"id"`
			Created       bool   `json:"created"`
			SpecHash      string `json:"spec_hash"`
		}{show.SchemaVersion, id, answer.GetCreated(), answer.GetJob().GetSpecHash()})
	}
	_, err = a.out.Write([]byte(id + "\n"))
	return err
}
