package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) scheduleCommand() *cobra.Command {
	return group("schedule", "Make jobs again and again, by the clock",
		`  gram schedule preview -f examples/nightly.yaml
  gram schedule create -f examples/nightly.yaml
  gram schedule show nightly-topics`,
		a.scheduleCreateCommand(), a.scheduleListCommand(), a.scheduleShowCommand(), a.schedulePreviewCommand(),
		a.schedulePauseCommand(), a.scheduleResumeCommand(), a.scheduleTriggerCommand(), a.scheduleBackfillCommand(),
		a.scheduleReleaseCommand(), a.scheduleRemoveCommand())
}

// decide makes one call about schedules, again and again while the cluster is not reachable:
// every one of them may be repeated.
func (a *app) decide(ctx context.Context, c *cluster, call func(context.Context) error) error {
	l := &link{patience: a.patience, pause: a.pause, note: func(text string) { a.note("gram: %s", text) }}
	err := l.keep(ctx, func(ctx context.Context) error {
		if err := call(ctx); err != nil {
			return c.explainSchedule(err)
		}
		l.up()
		return nil
	})
	return err
}

// explainSchedule is explain with hints that speak of schedules.
func (c *cluster) explainSchedule(err error) error {
	f := explainCall(c.addr, err)
	if f.code == exitConflict {
		f.hint = "With --replace create changes it; another --id makes another."
	}
	return f
}

func (a *app) schedulePauseCommand() *cobra.Command {
	return a.switchCommand(&cobra.Command{
		Use:     "pause ID...",
		Short:   "Let slots pass without jobs, until resume",
		Example: `  gram schedule pause nightly-topics`,
	}, func(ctx context.Context, c *cluster, id string) (*gramv1.Schedule, error) {
		res, err := c.schedules.PauseSchedule(ctx, connect.NewRequest(&gramv1.PauseScheduleRequest{Id: id}))
		if err != nil {
			return nil, err
		}
		return res.Msg.GetSchedule(), nil
	})
}

func (a *app) scheduleResumeCommand() *cobra.Command {
	return a.switchCommand(&cobra.Command{
		Use:     "resume ID...",
		Short:   "Make jobs again, from the next slot on",
		Example: `  gram schedule resume nightly-topics`,
		Long:    "Slots that passed meanwhile stay skipped; backfill makes their jobs.",
	}, func(ctx context.Context, c *cluster, id string) (*gramv1.Schedule, error) {
		res, err := c.schedules.ResumeSchedule(ctx, connect.NewRequest(&gramv1.ResumeScheduleRequest{Id: id}))
		if err != nil {
			return nil, err
		}
		return res.Msg.GetSchedule(), nil
	})
}

// switchCommand is a verb that does one thing to each of the schedules named.
func (a *app) switchCommand(cmd *cobra.Command, do func(context.Context, *cluster, string) (*gramv1.Schedule, error)) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		c, err := a.connect()
		if err != nil {
			return err
		}
		var done []*gramv1.Schedule
		var errs []error
		for _, id := range ids {
			errs = append(errs, a.decide(cmd.Context(), c, func(ctx context.Context) error {
				sched, err := do(ctx, c, id)
				if err == nil {
					done = append(done, sched)
				}
				return err
			}))
		}
		if len(done) > 0 {
			errs = append(errs, a.printSchedules(done))
		}
		return errors.Join(errs...)
	}
	return cmd
}

func (a *app) scheduleRemoveCommand() *cobra.Command {
	return addYes(&cobra.Command{
		Use:     "rm ID...",
		Short:   "Remove schedules; their jobs stay, and go on",
		Example: `  gram schedule rm nightly-topics`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd, fmt.Sprintf("%s and what is known of their slots go for good", strings.Join(ids, ", ")), false); err != nil {
				return err
			}
			var errs []error
			for _, id := range ids {
				if _, err := c.schedules.RemoveSchedule(cmd.Context(), connect.NewRequest(&gramv1.RemoveScheduleRequest{Id: id})); err != nil {
					errs = append(errs, c.explainSchedule(err))
					continue
				}
				a.note("gram: schedule %s is removed; its jobs stay", id)
			}
			return errors.Join(errs...)
		},
	})
}
