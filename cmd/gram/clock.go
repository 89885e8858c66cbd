package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) clockCommand() *cobra.Command {
	return group("clock", "Accept the leader's clock", `  gram cluster status
  gram cluster clock accept`, a.clockAcceptCommand())
}

func (a *app) clockAcceptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Trust the leader's wall clock as it is",
		Example: `  gram cluster status
  date -u
  gram cluster clock accept`,
		Long: `While the leader's clock is not trusted, no slot fires, and no job is retired or
swept: it jumped, or is more than a minute from the other clocks. That ends by
itself when the clocks agree again. This command says that the leader's clock is
right. Times in the log that are still to come are set to it, and schedules go
on at their next slot. Repeating it is harmless. It needs an admin's token.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return a.acceptClock(cmd.Context(), c)
		},
	}
}

func (a *app) acceptClock(ctx context.Context, c *cluster) error {
	res, err := c.services.AcceptClock(ctx, connect.NewRequest(&gramv1.AcceptClockRequest{}))
	if err != nil {
		return c.explain(err)
	}
	answer := res.Msg
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int    `json:"schema_version"`
			Accepted      bool   `json:"accepted"`
			Now           string `json:"now"`
			SetBackMs     int64  `json:"set_back_ms"`
		}{schemaVersion, answer.GetAccepted(), timestamp(answer.GetNowUnixMs()), answer.GetSetBackMs()})
	}
	switch {
	case !answer.GetAccepted():
		a.note("gram: the clock was trusted already; it is %s", timestamp(answer.GetNowUnixMs()))
	case answer.GetSetBackMs() > 0:
		a.note("gram: the clock is trusted; it is %s, and the log's time was set back by %s", timestamp(answer.GetNowUnixMs()), milliseconds(answer.GetSetBackMs()))
	default:
		a.note("gram: the clock is trusted; it is %s", timestamp(answer.GetNowUnixMs()))
	}
	return nil
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// clockView is the leader's clock, as the leader judges it.
type clockView struct {
	Trusted    bool   `json:"trusted"`
	Reason     string `json:"reason,omitempty"`
	OffsetMs   int64  `json:"offset_ms"`
	Others     uint32 `json:"others"`
	Now        string `json:"now,omitempty"`
	LogAheadMs int64  `json:"log_ahead_ms"`
}

func viewClock(s *gramv1.ClockStatus) clockView {
	return clockView{s.GetTrusted(), s.GetReason(), s.GetOffsetMs(), s.GetOthers(), timestamp(s.GetNowUnixMs()), s.GetLogAheadMs()}
}

// leaderClock says how the leader's clock is.
func leaderClock(s *gramv1.ClockStatus) string {
	text := fmt.Sprintf("trusted, %+.1fs of the median with %d others", float64(s.GetOffsetMs())/1000, s.GetOthers())
	switch {
	case s == nil:
		return "not told: the leader runs an earlier release"
	case !s.GetTrusted():
		text = "NOT TRUSTED: " + s.GetReason()
	case s.GetOthers() == 0:
		text = "trusted; no other clock is known"
	}
	if ahead := milliseconds(s.GetLogAheadMs()); ahead > 2*time.Minute {
		text += fmt.Sprintf("; the log's time is %s ahead: `gram cluster clock accept` sets it back", ahead.Round(time.Second))
	}
	return text
}

// memberClock is a member's clock in a table.
func memberClock(s *gramv1.ClockStatus) string {
	switch {
	case s == nil:
		return "-"
	case !s.GetTrusted():
		return "not trusted"
	}
	return strconv.FormatFloat(float64(s.GetOffsetMs())/1000, 'f', 1, 64) + "s"
}
