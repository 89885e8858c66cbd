package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// story is a timeline in words: worker, slot, from, to, work, outcome.
func (d *desk) story() (marks, events []string) {
	t := d.board.Jobs.Timeline(jobOf(d.view, "a"))
	for _, m := range t.Marks {
		speculative := ""
		if m.Speculative {
			speculative = " speculative"
		}
		marks = append(marks, fmt.Sprintf("%s/%d %v-%v %d %d%s", t.Workers[m.Worker].ID, m.Slot, m.From, m.To, m.Work,
			m.Outcome, speculative))
	}
	for _, e := range t.Events {
		events = append(events, fmt.Sprintf("%v %d %s", e.At, e.What, e.Worker))
	}
	return marks, events
}

// Worker w has eight leaves, the last two of which x takes up as well: it wins one and is too late for
// the other.
func TestTimelineOfARoundWithSpeculativeCopies(t *testing.T) {
	d, slow := tail(t)
	begin := d.now
	d.now += time.Second
	copies := d.lease("x", 5)[1:]
	d.now += 100 * ms
	d.reported("x", copies[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.reported("w", slow[0].Task, pb.Verdict_VERDICT_DUPLICATE)
	d.reported("w", slow[1].Task, pb.Verdict_VERDICT_ACCEPTED)
	marks, events := d.story()
	if len(marks) != 6+4 {
		t.Fatalf("%d marks: %q", len(marks), marks)
	}
	from, to := begin-200*ms, begin+time.Second+100*ms
	for _, want := range []string{
		fmt.Sprintf("w/1 %v-%v 2 2", from, to), // in vain
		fmt.Sprintf("w/2 %v-%v 2 1", from, to),
		fmt.Sprintf("x/1 %v-%v 2 1 speculative", begin+time.Second, to),
		fmt.Sprintf("x/2 %v-%v 2 2 speculative", begin+time.Second, to),
	} {
		if !slices.Contains(marks, want) {
			t.Errorf("no mark %q among %q", want, marks)
		}
	}
	if len(events) != 3 { // two launched, one won
		t.Errorf("events %q", events)
	}
}

func TestTimelineOfAWorkerThatIsLost(t *testing.T) {
	d := newDesk(t, 2, 4)
	d.lease("w", 1)
	d.now += schedule.DefaultConfig().LeaseTTL
	d.board.Expire(d.now)
	marks, events := d.story()
	if len(marks) != 1 || len(events) != 2 {
		t.Fatalf("marks %q, events %q", marks, events)
	}
	want := fmt.Sprintf("w/0 0s-%v 2 %d", d.now, pb.TimelineOutcome_TIMELINE_OUTCOME_EXPIRED)
	if marks[0] != want {
		t.Errorf("mark %q, want %q", marks[0], want)
	}
}
