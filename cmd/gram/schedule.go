package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func scheduleCommand(a *app) *cobra.Command {
	return command.Group("schedule", "Make jobs again and again, by the clock",
		`  gram schedule preview -f examples/nightly.yaml
  gram schedule create -f examples/nightly.yaml
  gram schedule show nightly-topics`,
		scheduleCreateCommand(a), scheduleListCommand(a), scheduleShowCommand(a), schedulePreviewCommand(a),
		schedulePauseCommand(a), scheduleResumeCommand(a), scheduleTriggerCommand(a), scheduleBackfillCommand(a),
		scheduleReleaseCommand(a), scheduleRemoveCommand(a))
}

func schedulePauseCommand(a *app) *cobra.Command {
	return switchCommand(a, &cobra.Command{
		Use:     "pause ID...",
		Short:   "Let ticks pass without jobs, until resume",
		Example: `  gram schedule pause nightly-topics`,
	}, func(ctx context.Context, c *client.Cluster, id string) (*gramv1.Schedule, error) {
		res, err := c.Schedules.PauseSchedule(ctx, connect.NewRequest(&gramv1.PauseScheduleRequest{Id: id}))
		if err != nil {
			return nil, err
		}
		return res.Msg.GetSchedule(), nil
	})
}

func scheduleResumeCommand(a *app) *cobra.Command {
	return switchCommand(a, &cobra.Command{
		Use:     "resume ID...",
		Short:   "Make jobs again, from the next tick on",
		Example: `  gram schedule resume nightly-topics`,
		Long:    "Ticks that passed meanwhile stay skipped; backfill makes their jobs.",
	}, func(ctx context.Context, c *client.Cluster, id string) (*gramv1.Schedule, error) {
		res, err := c.Schedules.ResumeSchedule(ctx, connect.NewRequest(&gramv1.ResumeScheduleRequest{Id: id}))
		if err != nil {
			return nil, err
		}
		return res.Msg.GetSchedule(), nil
	})
}

// switchCommand is a verb that does one thing to each of the schedules named.
func switchCommand(a *app, cmd *cobra.Command,
	do func(context.Context, *client.Cluster, string) (*gramv1.Schedule, error)) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		c, err := a.connect()
		if err != nil {
			return err
		}
		var done []*gramv1.Schedule
		var errs []error
		for _, id := range ids {
			errs = append(errs, decide(cmd.Context(), a, c, func(ctx context.Context) error {
				sched, err := do(ctx, c, id)
				if err == nil {
					done = append(done, sched)
				}
				return err
			}))
		}
		if len(done) > 0 {
			errs = append(errs, printSchedules(a, done))
		}
		return errors.Join(errs...)
	}
	return cmd
}

func scheduleRemoveCommand(a *app) *cobra.Command {
	return command.AddYes(&cobra.Command{
		Use:     "rm ID...",
		Short:   "Remove schedules; their jobs stay, and go on",
		Example: `  gram schedule rm nightly-topics`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd, fmt.Sprintf("%s and what is known of their ticks go for good",
				strings.Join(ids, ", ")), false); err != nil {
				return err
			}
			var errs []error
			for _, id := range ids {
				if _, err := c.Schedules.RemoveSchedule(cmd.Context(),
					connect.NewRequest(&gramv1.RemoveScheduleRequest{Id: id})); err != nil {
					errs = append(errs, explainSchedule(c, err))
					continue
				}
				a.note("gram: schedule %s is removed; its jobs stay", id)
			}
			return errors.Join(errs...)
		},
	})
}
