package schedule

import (
	"fmt"
	"testing"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// However many tasks a job has, and however they end, its timeline is bounded, each task is in a mark or
// counted as lost, and no two marks of a slot overlap.
func TestTimelineIsBounded(t *testing.T) {
	for _, workers := range []int{1, 40, 600} {
		for _, failing := range []int{0, 7, 1} { // every n-th; 0 none, 1 all
			line := newTimeline(0)
			now, tasks := time.Duration(0), 0
			for ; tasks < 30000; tasks++ {
				l := &lease{worker: fmt.Sprint(tasks % workers), since: now}
				l.task.Round, l.task.Kind = uint32(1+tasks/5000), pb.TaskKind_TASK_KIND_NODE
				line.begin(l, Worker{ID: l.worker})
				now += time.Duration(1+tasks%13) * time.Millisecond
				outcome := pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
				if failing > 0 && tasks%failing == 0 {
					outcome = pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED
				}
				line.end(l, now, outcome)
				now += time.Duration(tasks%17) * time.Millisecond
				line.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED, l.worker, l.task)
			}
			told, ends := 0, make(map[laneSlot]time.Duration)
			for _, m := range line.Marks {
				told += m.Tasks
				if key := (laneSlot{m.Worker, m.Slot}); m.From < ends[key] || m.To < m.From {
					t.Fatalf("mark %+v begins before %v", m, ends[key])
				} else {
					ends[key] = m.To
				}
			}
			if len(line.Marks) > maxMarks || len(line.Events) != maxEvents || line.EventsLost != tasks-maxEvents {
				t.Errorf("%d workers: %d marks, %d events", workers, len(line.Marks), len(line.Events))
			}
			if failing == 0 && workers < maxLanes && told != tasks {
				t.Errorf("%d workers: the marks tell of %d of %d tasks", workers, told, tasks)
			}
			if told == tasks != (line.MarksLost == 0) {
				t.Errorf("%d workers: %d of %d tasks told, %d marks lost", workers, told, tasks, line.MarksLost)
			}
		}
	}
}
