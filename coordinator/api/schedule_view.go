package api

import (
	"time"

	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// describeSchedule returns a schedule as people see it, with at most next of its next ticks.
func (s *Schedules) describeSchedule(sched *state.Schedule, next int) *pb.Schedule {
	d := sched.Definition
	view, _ := s.View()
	out := &pb.Schedule{
		Definition: &pb.ScheduleDefinition{
			Id: d.GetId(), SpecJson: string(d.GetJobJson()), Cron: d.GetCron(), TimeZone: d.GetTimeZone(),
			Overlap: d.GetOverlap(),
			CatchUp: d.GetCatchUp(), CatchUpMax: d.GetCatchUpMax(), StartDeadlineMs: d.GetStartDeadlineMs(),
			JitterMs: d.GetJitterMs(),
		},
		Paused: sched.Paused, LastTickUnixMs: sched.LastTick, Fired: sched.Fired, Skipped: sched.Skipped,
		Recent:     sched.TickRecords(),
		HeldUnixMs: view.HeldSince, LatestJobId: sched.LatestJob, LatestTickUnixMs: sched.LatestTick,
		JobsActive: uint32(view.JobsOf(sched.ID())),
	}
	table, err := command.TimetableOf(d.GetCron(), d.GetTimeZone())
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	from := time.UnixMilli(sched.LastTick).UTC()
	if now := s.Wall(); sched.Paused || view.Held() && from.Before(now) {
		from = now // what has passed is decided when it goes on
	}
	for at := range upcoming(table, from) {
		if next--; next < 0 {
			break
		}
		out.NextTicksUnixMs = append(out.NextTicksUnixMs, at.UnixMilli())
	}
	return out
}

// upcoming are a timetable's instants after the given one.
func upcoming(table schedule.Timetable, after time.Time) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for at := table.Next(after); !at.IsZero() && yield(at); at = table.Next(at) {
		}
	}
}
