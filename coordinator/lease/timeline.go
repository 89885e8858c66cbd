package lease

import (
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// WireTimeline puts the leader's monotonic times on the calendar; they count from started.
func WireTimeline(t schedule.Timeline, started time.Time) *pb.Timeline {
	at := func(mono time.Duration) int64 { return started.Add(mono).UnixMilli() }
	out := &pb.Timeline{GrainMs: t.Grain.Milliseconds(), MarksLost: uint32(t.MarksLost),
		EventsLost: uint32(t.EventsLost)}
	if t.Since > 0 {
		out.SinceUnixMs = at(t.Since)
	}
	for _, w := range t.Workers {
		name := w.Name
		if name == "" {
			name = w.ID
		}
		out.Workers = append(out.Workers, &pb.TimelineWorker{Name: name, Kernels: w.Kernels, Slots: uint32(w.Slots)})
	}
	out.Marks = WireMarks(t.Marks, started)
	for _, e := range t.Events {
		out.Events = append(out.Events, &pb.TimelineEvent{AtUnixMs: at(e.At), Kind: e.What, Worker: e.Worker,
			Task: e.Task})
	}
	for _, f := range t.Forecasts {
		out.Forecasts = append(out.Forecasts, &pb.TimelineForecast{Round: f.Round, AtUnixMs: at(f.At),
			P50UnixMs: at(f.P50), P90UnixMs: at(f.P90)})
	}
	return out
}

// WireMarks puts marks of a timeline on the calendar.
func WireMarks(marks []schedule.Mark, started time.Time) (out []*pb.TimelineMark) {
	at := func(mono time.Duration) int64 { return started.Add(mono).UnixMilli() }
	for _, m := range marks {
		out = append(out, &pb.TimelineMark{
			Worker: uint32(m.Worker), Slot: uint32(m.Slot), FromUnixMs: at(m.From), ToUnixMs: at(m.To), Work: m.Work,
			Round: m.Round, Tasks: uint32(m.Tasks), Outcome: m.Outcome, Speculative: m.Speculative,
		})
	}
	return out
}
