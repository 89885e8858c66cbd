package main

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func clockCommand(a *app) *cobra.Command {
	return command.Group("clock", "Accept the leader's clock", `  gram cluster status
  gram cluster clock accept`, clockAcceptCommand(a))
}

func clockAcceptCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Trust the leader's wall clock as it is",
		Example: `  gram cluster status
  date -u
  gram cluster clock accept`,
		Long: `While the leader's clock is not trusted, no tick fires, and no job is retired or
swept: it jumped, or is more than a minute from the other clocks. That ends by
itself when the clocks agree again. This command says that the leader's clock is
right. Times in the log that are still to come are set to it, and schedules go
on at their next tick. Repeating it is harmless. It needs an admin's token.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return acceptClock(cmd.Context(), a, c)
		},
	}
}

func acceptClock(ctx context.Context, a *app, c *client.Cluster) error {
	res, err := c.Services.AcceptClock(ctx, connect.NewRequest(&gramv1.AcceptClockRequest{}))
	if err != nil {
		return c.Explain(err)
	}
	answer := res.Msg
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int    `json:"schema_version"`
			Accepted      bool   `json:"accepted"`
			Now           string `json:"now"`
			SetBackMs     int64  `json:"set_back_ms"`
		}{show.SchemaVersion, answer.GetAccepted(), show.Timestamp(answer.GetNowUnixMs()), answer.GetSetBackMs()})
	}
	switch {
	case !answer.GetAccepted():
		a.note("gram: the clock was trusted already; it is %s", show.Timestamp(answer.GetNowUnixMs()))
	case answer.GetSetBackMs() > 0:
		a.note("gram: the clock is trusted; it is %s, and the log's time was set back by %s",
			show.Timestamp(answer.GetNowUnixMs()), show.Milliseconds(answer.GetSetBackMs()))
	default:
		a.note("gram: the clock is trusted; it is %s", show.Timestamp(answer.GetNowUnixMs()))
	}
	return nil
}
