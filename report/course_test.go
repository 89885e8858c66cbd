package report

import (
	"slices"
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Every event of a timeline has words of its own.
func TestTimelineNamesItsEvents(t *testing.T) {
	names := map[pb.TimelineEventKind]string{
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_LEASE_EXPIRED:             "lease expired",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_WORKER_LOST:               "worker lost",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED:               "task failed",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_SPECULATIVE_COPY_LAUNCHED: "speculative copy launched",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_SPECULATIVE_COPY_WON:      "speculative copy won",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_WORKER_CONVICTED:          "worker convicted",
		pb.TimelineEventKind_TIMELINE_EVENT_KIND_REMADE:                    "remade",
	}
	if got := len(pb.TimelineEventKind_name) - 1; got != len(names) {
		t.Errorf("%d kinds of events, and words for %d", got, len(names))
	}
	job := &pb.Job{SubmittedUnixMs: 1000}
	sent := &pb.Timeline{SinceUnixMs: 1500, Workers: []*pb.TimelineWorker{{Name: "w1"}},
		Marks: []*pb.TimelineMark{{FromUnixMs: 2000, ToUnixMs: 3000, Speculative: true}}}
	want := []Event{{At: 0.5, What: "another coordinator took the lead"}}
	at := int64(2000)
	for kind, name := range names { //lint:ordered sent and wanted in one order
		sent.Events = append(sent.Events, &pb.TimelineEvent{AtUnixMs: at, Kind: kind, Worker: "w1", Task: "leaf 3"})
		want = append(want, Event{At: float64(at-1000) / 1000, What: name, Worker: "w1", Task: "leaf 3"})
		at += 500
	}
	got := TimelineOf(job, sent)
	if !slices.Equal(got.Events, want) {
		t.Errorf("events\n%+v, want\n%+v", got.Events, want)
	}
	if len(got.Marks) != 1 || !got.Marks[0].Speculative || got.Marks[0].From != 1 || got.Marks[0].To != 2 {
		t.Errorf("marks %+v", got.Marks)
	}
}

// The report has how many slots a worker had, and a forecast with when its round ended; a round that is not over has
// none.
func TestTimelineHasSlotsAndForecasts(t *testing.T) {
	job := &pb.Job{SubmittedUnixMs: 1000,
		Rounds: []*pb.RoundRecord{{Round: 1, StartedUnixMs: 1500, FinishedUnixMs: 9000}}}
	sent := &pb.Timeline{Workers: []*pb.TimelineWorker{{Name: "w1", Slots: 3}},
		Marks: []*pb.TimelineMark{{FromUnixMs: 2000, ToUnixMs: 3000}},
		Forecasts: []*pb.TimelineForecast{{Round: 1, AtUnixMs: 3000, P50UnixMs: 6000, P90UnixMs: 8000},
			{Round: 2, AtUnixMs: 9500, P50UnixMs: 9600, P90UnixMs: 9700}}}
	got := TimelineOf(job, sent)
	want := []Forecast{{Round: 1, At: 2, P50: 5, P90: 7, Ended: 8}}
	if got.Workers[0].Slots != 3 || !slices.Equal(got.Forecasts, want) {
		t.Errorf("%+v, %+v", got.Workers, got.Forecasts)
	}
}
