package main

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func scheduleReleaseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "release",
		Short: "Let the schedules go on that are held since a restore",
		Example: `  gram schedule list
  gram schedule pause nightly-topics
  gram schedule release`,
		Long: `A cluster that was begun with a backup fires no tick until then: the old one may
have fired it after the backup, or may be running yet. Ticks that passed are
decided at the release, by each schedule's catch_up; pause a schedule first,
and its ticks up to resume are skipped. Repeating it is harmless.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return releaseSchedules(cmd.Context(), a, c)
		},
	}
}

func releaseSchedules(ctx context.Context, a *app, c *client.Cluster) error {
	var answer *gramv1.ReleaseSchedulesResponse
	err := decide(ctx, a, c, func(ctx context.Context) error {
		res, err := c.Schedules.ReleaseSchedules(ctx, connect.NewRequest(&gramv1.ReleaseSchedulesRequest{}))
		if err == nil {
			answer = res.Msg
		}
		return err
	})
	if err != nil {
		return err
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int    `json:"schema_version"`
			Released      bool   `json:"released"`
			Schedules     uint32 `json:"schedules"`
		}{show.SchemaVersion, answer.GetReleased(), answer.GetSchedules()})
	}
	if answer.GetReleased() {
		a.note("gram: %d schedules go on", answer.GetSchedules())
	} else {
		a.note("gram: the schedules were not held")
	}
	return nil
}
