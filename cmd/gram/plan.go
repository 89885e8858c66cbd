package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/estimate"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	var from specFlags
	var past []string
	var workers, slots int
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Say what a job would read and how long it may take; runs nothing",
		Example: `  gram plan -f examples/glosses.yaml
  gram plan -f spec.yaml --set spec.input.shard_bytes=16MiB -o json
  gram plan -f spec.yaml --from models/ID/report.json --workers 8 --slots 4
  gram plan -f spec.yaml --from daily-1 --from daily-2 --from daily-3`,
		Long: `Validates the spec as run does, lists the input and cuts its shards as the job
would, reads the head of up to three shards to estimate the records, and tries
whether the output's folder takes a file. Nothing is run and nothing stays
behind. A spec that does not validate exits with 2; what the job would fail of
while it is planned, or an output that cannot be written, with 1.

--from names a job that ran: its report.json, the folder of its model, or a job
of the cluster. The rounds of that job are simulated with task times drawn from
its own, on the workers given, with speculative copies and without. One job says
nothing of how runs differ: name several, such as the last five of a schedule.
The plan lists the params, split and evaluation in which that job differed, from
its provenance.json.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(local.CheckCount("workers", workers), local.CheckCount("slots", slots)); err != nil {
				return err
			}
			spec, err := load(a, from)
			if err == nil {
				err = checkKept(spec.Spec.Output.URI)
			}
			if err != nil {
				return err
			}
			view, err := planOf(cmd.Context(), a, spec, past, workers, slots)
			if err != nil {
				return err
			}
			return showPlan(a, view)
		},
	}
	from.add(cmd)
	set := cmd.Flags()
	set.StringArrayVar(&past, "from", nil,
		"forecast the time from a job that ran: its `report`.json, folder or id; may be repeated")
	set.IntVar(&workers, "workers", 0, "with --from: this `many` workers (default as many as ran that job)")
	set.IntVar(&slots, "slots", 0, "with --from: tasks at a time on each, this `many` (default as there)")
	return cmd
}

// planView is what -o json prints of a plan.
type planView struct {
	SchemaVersion int `json:"schema_version"`
	*estimate.Job
	Time *estimate.Time `json:"time"` // nil without --from
}

func planOf(
	ctx context.Context, a *app, spec protocol.JobSpec, from []string, workers, slots int,
) (view planView, err error) {
	view.SchemaVersion = show.SchemaVersion
	pasts, err := readPasts(ctx, a, spec, from) // first: they may be misspelled
	if err != nil {
		return view, err
	}
	if len(pasts) == 0 && (workers > 0 || slots > 0) {
		return view, &exit.Failure{Code: exit.Usage, What: "--workers and --slots need --from: no task times are known",
			Hint: "Name the report.json of a job that ran."}
	}
	if view.Job, err = estimate.Of(ctx, spec); err != nil {
		return view, wouldFail(err)
	}
	if len(pasts) > 0 {
		view.Time, err = view.TimeOf(pasts, workers, slots)
	}
	return view, err
}

// wouldFail says of a fault that the job would fail of it, with the code of a failed job.
func wouldFail(err error) error {
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		return err
	}
	why := *fault
	why.Hint = ""
	return &exit.Failure{Code: exit.Failed, What: "the job would fail", Why: &why, Hint: fault.Hint, Cause: err}
}

// showPlan prints a plan, as JSON or for people. An output that cannot be written is an error.
func showPlan(a *app, view planView) error {
	if a.flags.output == "json" {
		if err := a.printJSON(view); err != nil {
			return err
		}
	} else {
		printPlan(a, view)
	}
	if view.Output.Writable == estimate.Refused {
		return &exit.Failure{Code: exit.Failed, What: "the job would fail: its output cannot be written",
			Why: errors.New(view.Output.Says), Hint: "Correct spec.output.uri, or the rights of that folder."}
	}
	return nil
}

func printPlan(a *app, view planView) {
	rows := view.Job.Rows(show.Size)
	if view.Time != nil {
		rows = append(rows, view.Time.Rows(terminal.Elapsed)...)
	} else {
		rows = append(rows, [2]string{"time", "not known; --from REPORT forecasts it from a job that ran"})
	}
	for _, row := range rows {
		const margin = 9                                                         // of the names
		text := terminal.Wrap(terminal.Clean(row[1]), terminal.Columns-margin-2) // what goes on is indented by two more
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", margin))
		fmt.Fprintf(a.out, "%-*s%s\n", margin, row[0], text)
	}
}
