package worker

import (
	"context"
	"fmt"
	"strings"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
	"google.golang.org/protobuf/proto"
)

// putCourse keeps what the leader remembers of the job for its report, which lacks it where that fails.
func (j *job) putCourse(ctx context.Context, by made, course *pb.Timeline) *pb.ObjectRef {
	if course == nil {
		return nil
	}
	data, err := proto.Marshal(course)
	if err == nil {
		var ref *pb.ObjectRef
		if ref, err = j.w.put(ctx, by, data); err == nil {
			return ref
		}
	}
	j.w.cfg.Logger.Warn("the report will have no timeline", "job", j.id, "error", err)
	return nil
}

// course reads what putCourse kept; nil where there is nothing.
func (j *job) course(ctx context.Context, by made, ref *pb.ObjectRef) (*pb.Timeline, error) {
	if ref == nil {
		return nil, nil
	}
	data, err := j.w.get(ctx, by, ref)
	if err != nil {
		return nil, err
	}
	var course pb.Timeline
	if err := proto.Unmarshal(data, &course); err != nil {
		return nil, fmt.Errorf("read the job's timeline: %w", err)
	}
	return &course, nil
}

// timelineOf is who did what when, in seconds since the job's submission. It is in the report and
// nowhere else: clocks reach no result.
func timelineOf(brief *pb.JobBrief, sent *pb.Timeline) *report.Timeline {
	if len(sent.GetMarks()) == 0 {
		return nil
	}
	begin := brief.GetRecord().GetSubmittedUnixMs()
	since := func(unixMs int64) float64 { return max(0, seconds(unixMs-begin)) }
	t := &report.Timeline{
		Begins: timestamp(begin), Grain: seconds(sent.GetGrainMs()), Works: report.Works, Outcomes: report.Outcomes,
		MarksLost: int(sent.GetMarksLost()), EventsLost: int(sent.GetEventsLost()),
	}
	if at := sent.GetSinceUnixMs(); at > 0 {
		t.Since = since(at)
		t.Events = append(t.Events, report.Event{At: t.Since, What: "another coordinator took the lead"})
	}
	for _, w := range sent.GetWorkers() {
		t.Workers = append(t.Workers, report.Worker{Name: w.GetName(), Kernels: w.GetKernels(),
			Slots: int(w.GetSlots())})
	}
	for _, m := range sent.GetMarks() {
		if int(m.GetWorker()) >= len(t.Workers) {
			continue // no coordinator sends such
		}
		t.Marks = append(t.Marks, report.Mark{
			Worker: int(m.GetWorker()), Slot: int(m.GetSlot()), From: since(m.GetFromUnixMs()),
			To:   since(m.GetToUnixMs()),
			Work: report.Work(m.GetWork()), Round: m.GetRound(), Tasks: int(m.GetTasks()),
			Outcome: report.Outcome(m.GetOutcome()), Speculative: m.GetSpeculative(),
		})
	}
	for _, e := range sent.GetEvents() {
		what := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(e.GetKind().String(), "TIMELINE_EVENT_KIND_"),
			"_", " "))
		t.Events = append(t.Events, report.Event{At: since(e.GetAtUnixMs()), What: what, Worker: e.GetWorker(),
			Task: e.GetTask()})
	}
	for _, r := range brief.GetRecord().GetRounds() {
		t.Rounds = append(t.Rounds, report.Span{Round: r.GetRound(), From: since(r.GetStartedUnixMs()),
			To: since(r.GetFinishedUnixMs())})
		for _, f := range sent.GetForecasts() {
			if f.GetRound() == r.GetRound() {
				t.Forecasts = append(t.Forecasts, report.Forecast{Round: f.GetRound(), At: since(f.GetAtUnixMs()),
					P50: since(f.GetP50UnixMs()), P90: since(f.GetP90UnixMs()), Ended: since(r.GetFinishedUnixMs())})
			}
		}
	}
	return t
}
