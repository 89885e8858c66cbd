package main

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func scheduleTriggerCommand(a *app) *cobra.Command {
	var at string
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "trigger ID",
		Short: "Make a schedule's job now; prints the job's id",
		Example: `  gram schedule trigger nightly-topics
  gram schedule trigger nightly-topics --tick 2026-11-21T01:15:00Z --wait`,
		Long: `The job is that of the instant: now, or --tick. The same instant is the same
job, also when the schedule has fired it or comes to it later. The schedule
goes on as if nothing had been, and the job is not under its overlap policy.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tick, err := a.instant("--tick", at)
			if err != nil {
				return err
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			id, err := trigger(cmd.Context(), a, c, args[0], tick)
			if err != nil || !wait {
				return err
			}
			return awaitJobs(cmd.Context(), a, c, []string{id}, timeout, false)
		},
	}
	cmd.Flags().StringVar(&at, "tick", "", "the `instant` that the job is for, not in the future (default now)")
	cmd.Flags().BoolVar(&wait, "wait", false, "follow the job to its end, as gram wait does")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "with --wait: give up waiting after this `time`")
	return cmd
}

func trigger(ctx context.Context, a *app, c *client.Cluster, schedule string, tick time.Time) (id string, err error) {
	var answer *gramv1.TriggerScheduleResponse
	err = decide(ctx, a, c, func(ctx context.Context) error {
		res, err := c.Schedules.TriggerSchedule(ctx,
			connect.NewRequest(&gramv1.TriggerScheduleRequest{Id: schedule, TickUnixMs: tick.UnixMilli()}))
		if err == nil {
			answer = res.Msg
		}
		return err
	})
	if err != nil {
		return "", jobConflict(err)
	}
	if id = answer.GetJob().GetId(); !answer.GetCreated() {
		a.note("gram: job %s was there already, for the same instant", id)
	}
	if a.flags.output == "json" {
		return id, a.printJSON(struct {
			SchemaVersion int    `json:"schema_version"`
			ID            string `json:"id"`
			Created       bool   `json:"created"`
			Tick          string `json:"tick"`
		}{show.SchemaVersion, id, answer.GetCreated(), show.Timestamp(tick.UnixMilli())})
	}
	_, err = fmt.Fprintln(a.out, id)
	return id, err
}

// jobConflict: what is in the way is a job, not a schedule.
func jobConflict(err error) error {
	if f := exit.Of(err); f.Code == exit.Conflict {
		f.Hint = "The tick has the job of an earlier definition; its job stays."
		return f
	}
	return err
}

func scheduleBackfillCommand(a *app) *cobra.Command {
	var from, to string
	var dry bool
	cmd := &cobra.Command{
		Use:   "backfill ID --from INSTANT [--to INSTANT]",
		Short: "Make the jobs of past ticks, each once",
		Example: `  gram schedule backfill nightly-topics --from 2026-11-01 --dry-run
  gram schedule backfill nightly-topics --from 2026-11-01 --to 2026-11-08`,
		Long: `Ticks from --from to before --to, also from before the schedule was made. A tick
that has its job keeps it, so repeating is harmless. When there is no room for
more jobs it ends (exit code 6); run it again when some have ended. The jobs
are not under the schedule's overlap policy: the queue of jobs bounds them.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin, err := a.instant("--from", from)
			if err != nil {
				return err
			}
			end, err := a.instant("--to", to)
			if err != nil {
				return err
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			return backfill(cmd.Context(), a, c, &gramv1.BackfillScheduleRequest{
				Id: args[0], FromUnixMs: begin.UnixMilli(), ToUnixMs: end.UnixMilli(), DryRun: dry})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first `instant`, such as 2026-11-01 or 2026-11-01T12:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "end before this `instant` (default now)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only print what there would be")
	if err := cmd.MarkFlagRequired("from"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// backfill calls until the interval is done. What was made is printed also when the rest failed.
func backfill(ctx context.Context, a *app, c *client.Cluster, req *gramv1.BackfillScheduleRequest) error {
	var ticks []*gramv1.BackfilledTick
	var failed error
	for failed == nil {
		var next int64
		failed = decide(ctx, a, c, func(ctx context.Context) error {
			res, err := c.Schedules.BackfillSchedule(ctx, connect.NewRequest(req))
			if err == nil {
				ticks, next = append(ticks, res.Msg.GetTicks()...), res.Msg.GetNextUnixMs()
			}
			return err
		})
		if next == 0 {
			break
		}
		req.FromUnixMs = next
	}
	if failed != nil && len(ticks) == 0 {
		return failed
	}
	if err := printBackfill(a, ticks, req.GetDryRun()); err != nil {
		return err
	}
	return failed
}

func printBackfill(a *app, ticks []*gramv1.BackfilledTick, dry bool) error {
	type row struct {
		Tick   string `json:"tick"`
		Job    string `json:"job"`
		Result string `json:"result"`
	}
	rows := []row{}
	for _, s := range ticks {
		rows = append(rows, row{show.Clock(s.GetTickUnixMs()), s.GetJobId(), backfillWord(s, dry)})
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int   `json:"schema_version"`
			Ticks         []row `json:"ticks"`
		}{show.SchemaVersion, rows})
	}
	var table terminal.Table
	for _, r := range rows {
		table.Row(r.Tick, r.Job, r.Result)
	}
	table.Write(a.out)
	if len(rows) == 0 {
		a.note("gram: no tick in this interval")
	}
	return nil
}

func backfillWord(s *gramv1.BackfilledTick, dry bool) string {
	switch {
	case s.GetConflict():
		return "other spec" // there, by an earlier definition
	case !s.GetCreated():
		return "there"
	case dry:
		return "to make"
	}
	return "made"
}
