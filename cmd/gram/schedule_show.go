package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func scheduleListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List schedules with their next tick",
		Example: `  gram schedule list
  gram schedule list -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			var all []*gramv1.Schedule
			for req := (&gramv1.ListSchedulesRequest{Limit: maxPreview}); ; {
				res, err := c.Schedules.ListSchedules(cmd.Context(), connect.NewRequest(req))
				if err != nil {
					return explainSchedule(c, err)
				}
				all = append(all, res.Msg.GetSchedules()...)
				if !res.Msg.GetMore() || len(res.Msg.GetSchedules()) == 0 {
					return printSchedules(a, all)
				}
				req.After = all[len(all)-1].GetDefinition().GetId()
			}
		},
	}
}

func scheduleShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print a schedule, what became of its last ticks, and the next ones",
		Example: `  gram schedule show nightly-topics
  gram schedule show nightly-topics -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			sched, err := getSchedule(cmd.Context(), a, c, args[0], 3)
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				view := show.OfSchedule(sched)
				view.SchemaVersion = show.SchemaVersion
				return a.printJSON(view)
			}
			printSchedule(a, sched)
			return nil
		},
	}
}

// printSchedules prints a line for each; the last column takes what is left of the line.
func printSchedules(a *app, schedules []*gramv1.Schedule) error {
	if a.flags.output == "json" {
		views := []show.Schedule{}
		for _, s := range schedules {
			views = append(views, show.OfSchedule(s))
		}
		return a.printJSON(struct {
			SchemaVersion int             `json:"schema_version"`
			Schedules     []show.Schedule `json:"schedules"`
		}{show.SchemaVersion, views})
	}
	width := len("ID")
	for _, s := range schedules {
		width = max(width, len(s.GetDefinition().GetId()))
	}
	var table terminal.Table
	table.Row("ID", "STATE", "NEXT TICK", "CRON")
	for _, s := range schedules {
		next, d := "-", s.GetDefinition()
		if at := s.GetNextTicksUnixMs(); len(at) > 0 && !s.GetPaused() && s.GetHeldUnixMs() == 0 {
			next = show.Clock(at[0])
		}
		left := terminal.Columns - width - len("  active  ") - len("2026-11-21T02:15:00Z  ")
		table.Row(d.GetId(), show.ScheduleState(s), next, terminal.Shorten(d.GetCron()+" "+d.GetTimeZone(), left))
	}
	table.Write(a.out)
	return nil
}

// printSchedule prints a schedule for people.
func printSchedule(a *app, s *gramv1.Schedule) {
	palette, d := a.palette(a.out), s.GetDefinition()
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 0 {
			return palette.Faint(text)
		}
		return text
	}}
	state, catchUp := show.ScheduleState(s), show.CatchUpWord(d)
	if s.GetProblem() != "" {
		state += ": " + s.GetProblem()
	}
	if at := s.GetHeldUnixMs(); at != 0 && s.GetProblem() == "" {
		state += " since the cluster was restored as of " + show.Clock(at) + "; `gram schedule release`"
		if s.GetPaused() {
			state += "; and paused"
		}
	}
	if d.GetCatchUp() == gramv1.CatchUp_CATCH_UP_ALL {
		catchUp += ", at most " + strconv.Itoa(int(d.GetCatchUpMax()))
	}
	table.Row("schedule", d.GetId())
	table.Row("state", state)
	table.Row("cron", d.GetCron()+"  in "+d.GetTimeZone())
	table.Row("overlap", show.OverlapWord(d))
	table.Row("catch up", catchUp)
	for _, span := range []struct {
		name string
		ms   int64
	}{{"start deadline", d.GetStartDeadlineMs()}, {"jitter", d.GetJitterMs()}} {
		if span.ms > 0 {
			table.Row(span.name, spanText(time.Duration(span.ms)*time.Millisecond))
		}
	}
	table.Row("ticks", fmt.Sprintf("%d fired, %d skipped; %s not ended", s.GetFired(), s.GetSkipped(),
		protocol.Counted(s.GetJobsActive(), "job")))
	if s.GetLatestJobId() != "" {
		table.Row("latest", s.GetLatestJobId())
		table.Row("  of tick", show.Clock(s.GetLatestTickUnixMs()))
	}
	for i, at := range s.GetNextTicksUnixMs() {
		table.Row([]string{"next", ""}[min(i, 1)], show.Clock(at))
	}
	table.Write(a.out)
	printDecisions(a, s)
}

// spanText writes a time as people do: 6h, not 6h0m0s.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func printDecisions(a *app, s *gramv1.Schedule) {
	if len(s.GetRecent()) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	var table terminal.Table
	table.Row("TICK", "WHAT BECAME OF IT")
	for _, r := range s.GetRecent() {
		what := r.GetJobId()
		if skip := show.SkipWord(r); skip != "" {
			what = "skipped: " + skip
		}
		if r.GetTicks() > 1 {
			what += fmt.Sprintf(", %d ticks from %s", r.GetTicks(), show.Clock(r.GetFirstUnixMs()))
		}
		table.Row(show.Clock(r.GetTickUnixMs()), what)
	}
	table.Write(a.out)
}
