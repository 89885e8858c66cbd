package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) scheduleListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List schedules with their next slot",
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
				res, err := c.schedules.ListSchedules(cmd.Context(), connect.NewRequest(req))
				if err != nil {
					return c.explainSchedule(err)
				}
				all = append(all, res.Msg.GetSchedules()...)
				if !res.Msg.GetMore() || len(res.Msg.GetSchedules()) == 0 {
					return a.printSchedules(all)
				}
				req.After = all[len(all)-1].GetDefinition().GetId()
			}
		},
	}
}

func (a *app) scheduleShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print a schedule, what became of its last slots, and the next ones",
		Example: `  gram schedule show nightly-topics
  gram schedule show nightly-topics -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			sched, err := a.getSchedule(cmd.Context(), c, args[0], 3)
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				view := viewSchedule(sched)
				view.SchemaVersion = schemaVersion
				return a.printJSON(view)
			}
			a.printSchedule(sched)
			return nil
		},
	}
}

// scheduleView is a schedule as -o json prints it.
type scheduleView struct {
	SchemaVersion        int             `json:"schema_version,omitempty"`
	ID                   string          `json:"id"`
	State                string          `json:"state"`
	HeldSince            string          `json:"held_since,omitempty"`
	Problem              string          `json:"problem,omitempty"`
	Cron                 string          `json:"cron"`
	TimeZone             string          `json:"time_zone"`
	Overlap              string          `json:"overlap"`
	CatchUp              string          `json:"catch_up"`
	CatchUpMax           uint32          `json:"catch_up_max,omitempty"`
	StartDeadlineSeconds float64         `json:"start_deadline_seconds,omitempty"`
	JitterSeconds        float64         `json:"jitter_seconds,omitempty"`
	LastSlot             string          `json:"last_slot"`
	LatestJob            string          `json:"latest_job,omitempty"`
	LatestSlot           string          `json:"latest_slot,omitempty"`
	Next                 []string        `json:"next"`
	Fired                uint64          `json:"fired"`
	Skipped              uint64          `json:"skipped"`
	JobsActive           uint32          `json:"jobs_active"`
	Recent               []decisionView  `json:"recent,omitempty"`
	Spec                 json.RawMessage `json:"spec,omitempty"`
}

type decisionView struct {
	First string `json:"first"`
	Slot  string `json:"slot"`
	Slots uint32 `json:"slots"`
	Job   string `json:"job,omitempty"`
	Skip  string `json:"skip,omitempty"`
}

func viewSchedule(s *gramv1.Schedule) scheduleView {
	d := s.GetDefinition()
	v := scheduleView{
		ID: d.GetId(), State: scheduleState(s), HeldSince: timestamp(s.GetHeldUnixMs()), Problem: s.GetProblem(), Cron: d.GetCron(), TimeZone: d.GetTimeZone(),
		Overlap: overlapWord(d), CatchUp: catchUpWord(d), CatchUpMax: d.GetCatchUpMax(),
		StartDeadlineSeconds: seconds(0, d.GetStartDeadlineMs()), JitterSeconds: seconds(0, d.GetJitterMs()),
		LastSlot: timestamp(s.GetLastSlotUnixMs()), LatestJob: s.GetLatestJobId(), LatestSlot: timestamp(s.GetLatestSlotUnixMs()), Next: []string{}, Fired: s.GetFired(), Skipped: s.GetSkipped(),
		JobsActive: s.GetJobsActive(), Spec: json.RawMessage(d.GetSpecJson()),
	}
	for _, at := range s.GetNextSlotsUnixMs() {
		v.Next = append(v.Next, timestamp(at))
	}
	for _, r := range s.GetRecent() {
		v.Recent = append(v.Recent, decisionView{timestamp(r.GetFirstUnixMs()), timestamp(r.GetSlotUnixMs()), r.GetSlots(), r.GetJobId(), skipWord(r)})
	}
	return v
}

func scheduleState(s *gramv1.Schedule) string {
	switch {
	case s.GetProblem() != "":
		return "broken"
	case s.GetHeldUnixMs() != 0:
		return "held"
	case s.GetPaused():
		return "paused"
	}
	return "active"
}

func overlapWord(d *gramv1.ScheduleDefinition) string {
	return strings.ToLower(enumWord(d.GetOverlap().String(), "SCHEDULE_OVERLAP_"))
}

func catchUpWord(d *gramv1.ScheduleDefinition) string {
	return strings.ToLower(enumWord(d.GetCatchUp().String(), "CATCH_UP_"))
}

func skipWord(r *gramv1.SlotRecord) string {
	if r.GetSkip() == gramv1.SkipReason_SKIP_REASON_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(enumWord(r.GetSkip().String(), "SKIP_REASON_"))
}

// printSchedules prints a line for each; the last column takes what is left of the line.
func (a *app) printSchedules(schedules []*gramv1.Schedule) error {
	if a.flags.output == "json" {
		views := []scheduleView{}
		for _, s := range schedules {
			views = append(views, viewSchedule(s))
		}
		return a.printJSON(struct {
			SchemaVersion int            `json:"schema_version"`
			Schedules     []scheduleView `json:"schedules"`
		}{schemaVersion, views})
	}
	width := len("ID")
	for _, s := range schedules {
		width = max(width, len(s.GetDefinition().GetId()))
	}
	var table terminal.Table
	table.Row("ID", "STATE", "NEXT SLOT", "CRON")
	for _, s := range schedules {
		next, d := "-", s.GetDefinition()
		if at := s.GetNextSlotsUnixMs(); len(at) > 0 && !s.GetPaused() && s.GetHeldUnixMs() == 0 {
			next = clock(at[0])
		}
		left := maxColumns - width - len("  active  ") - len("2026-11-21T02:15:00Z  ")
		table.Row(d.GetId(), scheduleState(s), next, terminal.Shorten(d.GetCron()+" "+d.GetTimeZone(), left))
	}
	table.Write(a.out)
	return nil
}

// clock is an instant in UTC, to the second.
func clock(unixMs int64) string { return time.UnixMilli(unixMs).UTC().Format(time.RFC3339) }

// printSchedule prints a schedule for people.
func (a *app) printSchedule(s *gramv1.Schedule) {
	palette, d := a.palette(a.out), s.GetDefinition()
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 0 {
			return palette.Faint(text)
		}
		return text
	}}
	state, catchUp := scheduleState(s), catchUpWord(d)
	if s.GetProblem() != "" {
		state += ": " + s.GetProblem()
	}
	if at := s.GetHeldUnixMs(); at != 0 && s.GetProblem() == "" {
		state += " since the cluster was restored as of " + clock(at) + "; `gram schedule release`"
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
	table.Row("overlap", overlapWord(d))
	table.Row("catch up", catchUp)
	for _, span := range []struct {
		name string
		ms   int64
	}{{"start deadline", d.GetStartDeadlineMs()}, {"jitter", d.GetJitterMs()}} {
		if span.ms > 0 {
			table.Row(span.name, spanText(time.Duration(span.ms)*time.Millisecond))
		}
	}
	table.Row("slots", fmt.Sprintf("%d fired, %d skipped; %d jobs not ended", s.GetFired(), s.GetSkipped(), s.GetJobsActive()))
	if s.GetLatestJobId() != "" {
		table.Row("latest", s.GetLatestJobId())
		table.Row("  of slot", clock(s.GetLatestSlotUnixMs()))
	}
	for i, at := range s.GetNextSlotsUnixMs() {
		table.Row([]string{"next", ""}[min(i, 1)], clock(at))
	}
	table.Write(a.out)
	a.printDecisions(s)
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

func (a *app) printDecisions(s *gramv1.Schedule) {
	if len(s.GetRecent()) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	var table terminal.Table
	table.Row("SLOT", "WHAT BECAME OF IT")
	for _, r := range s.GetRecent() {
		what := r.GetJobId()
		if skip := skipWord(r); skip != "" {
			what = "skipped: " + skip
		}
		if r.GetSlots() > 1 {
			what += fmt.Sprintf(", %d slots from %s", r.GetSlots(), clock(r.GetFirstUnixMs()))
		}
		table.Row(clock(r.GetSlotUnixMs()), what)
	}
	table.Write(a.out)
}
