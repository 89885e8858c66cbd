package report

import (
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// TimelineOf returns who did what when, in seconds since the job's submission, from what the leader remembers; nil
// where it remembers nothing. It is for people: clocks reach no result.
func TimelineOf(job *pb.Job, sent *pb.Timeline) *Timeline {
	if len(sent.GetMarks()) == 0 && len(sent.GetEvents()) == 0 {
		return nil
	}
	begin := job.GetSubmittedUnixMs()
	since := func(unixMs int64) float64 { return max(0, float64(unixMs-begin)/1000) }
	t := &Timeline{
		Begins: Timestamp(begin), Grain: float64(sent.GetGrainMs()) / 1000, Works: Works, Outcomes: Outcomes,
		MarksLost: int(sent.GetMarksLost()), EventsLost: int(sent.GetEventsLost()),
	}
	if at := sent.GetSinceUnixMs(); at > 0 {
		t.Since = since(at)
		t.Events = append(t.Events, Event{At: t.Since, What: "another coordinator took the lead"})
	}
	for _, w := range sent.GetWorkers() {
		t.Workers = append(t.Workers, Worker{Name: w.GetName(), Kernels: w.GetKernels(), Slots: int(w.GetSlots())})
	}
	for _, m := range sent.GetMarks() {
		if int(m.GetWorker()) >= len(t.Workers) {
			continue // no coordinator sends such
		}
		t.Marks = append(t.Marks, Mark{
			Worker: int(m.GetWorker()), Slot: int(m.GetSlot()), From: since(m.GetFromUnixMs()),
			To: since(m.GetToUnixMs()), Work: Work(m.GetWork()), Round: m.GetRound(), Tasks: int(m.GetTasks()),
			Outcome: Outcome(m.GetOutcome()), Speculative: m.GetSpeculative(),
		})
	}
	for _, e := range sent.GetEvents() {
		t.Events = append(t.Events, Event{At: since(e.GetAtUnixMs()), What: eventName(e.GetKind()),
			Worker: e.GetWorker(), Task: e.GetTask()})
	}
	for _, r := range job.GetRounds() {
		t.Rounds = append(t.Rounds, Span{Round: r.GetRound(), From: since(r.GetStartedUnixMs()),
			To: since(r.GetFinishedUnixMs())})
		for _, f := range sent.GetForecasts() {
			if f.GetRound() == r.GetRound() {
				t.Forecasts = append(t.Forecasts, Forecast{Round: f.GetRound(), At: since(f.GetAtUnixMs()),
					P50: since(f.GetP50UnixMs()), P90: since(f.GetP90UnixMs()), Ended: since(r.GetFinishedUnixMs())})
			}
		}
	}
	return t
}

// eventName is the kind of an event in words: "lease expired".
func eventName(kind pb.TimelineEventKind) string {
	name := strings.TrimPrefix(kind.String(), "TIMELINE_EVENT_KIND_")
	return strings.ToLower(strings.ReplaceAll(name, "_", " "))
}

// Timestamp writes a time in UTC: 2026-11-21T09:00:00.000Z.
func Timestamp(unixMilli int64) string {
	return time.UnixMilli(unixMilli).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// readable writes what Timestamp returns, for people: 2026-11-21 09:00:00 UTC.
func readable(timestamp string) string {
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return timestamp
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}
