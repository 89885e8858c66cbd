package schedule

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// boardOf is a board with these workers, all live at time 0.
func boardOf(ids ...string) *Board {
	b := NewBoard(DefaultConfig(), 1, state.New(), 0)
	for _, id := range ids {
		b.Roster.list = append(b.Roster.list, &Worker{ID: id, Slots: 1})
	}
	return b
}

// At most two workers are blamed for a task, suspected of one, or kept as reporters: two are a second opinion.
func TestTwoWorkersAreKept(t *testing.T) {
	b := boardOf()
	j, r := b.Jobs.of(jobOfTrees(t, 2)), reporters{}
	blamed, suspected := nodeTask(0, 0, 0), nodeTask(0, 0, 1)
	for _, worker := range []string{"x", "x", "y", "z"} {
		j.blame(blamed, worker, &pb.Failure{}, 1, 0, time.Second)
		j.suspect(suspected, worker)
		r.add(worker)
	}
	j.blame(blamed, "infra", &pb.Failure{}, 0, 0, time.Second)
	two := []string{"x", "y"}
	first, second := j.faults[string(taskKey(blamed))].blamed, j.faults[string(taskKey(suspected))].blamed
	if !slices.Equal(first, two) || !slices.Equal(second, two) || !slices.Equal(r.workers, two) || r.count != 4 {
		t.Errorf("blamed %v, suspected %v, reporters %+v", first, second, r)
	}
}

// The last trouble is the latest; of several at a time the last by its text, however the map is walked.
func TestTheLastTrouble(t *testing.T) {
	job := jobOfTrees(t, 8)
	for range 50 {
		b := boardOf()
		j := b.Jobs.of(job)
		for i, f := range []fault{
			{at: 0, last: "zero", delays: 1}, {at: 5, last: "b", delays: 2}, {at: 5, last: "a"}, {at: 3, last: "z"},
		} {
			j.faults[fmt.Sprint(i)] = f
			want := []string{"zero", "b", "b", "b"}[i]
			if _, last := b.Jobs.Trouble(job); last != want {
				t.Fatalf("after %d faults: %q, want %q", i+1, last, want)
			}
		}
		if tries, _ := b.Jobs.Trouble(job); tries != 3 {
			t.Fatalf("%d tries", tries)
		}
	}
}

// A lease that ends with the commit of its own task is told as committed where it is the winner, or may be.
func TestHowALeaseEnded(t *testing.T) {
	node, other := nodeTask(0, 1, 0), nodeTask(0, 0, 0)
	winner := &lease{task: node, worker: "x", speculative: true}
	own := lease{task: node, worker: "w"}
	speculative, below, another := own, own, own
	speculative.speculative, below.task, another.worker = true, other, "y"
	for name, c := range map[string]struct {
		l, winner *lease
		committed bool
	}{
		"winner": {winner, winner, true}, "loser": {&own, winner, false}, "own": {&own, nil, true},
		"speculative": {&speculative, nil, false}, "below": {&below, nil, false}, "another's": {&another, nil, false},
	} {
		got := outcomeOf(c.l, c.winner, node, "w") == pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
		if got != c.committed {
			t.Errorf("%s: committed is %v", name, got)
		}
	}
}

// A task is withheld from the worker on which it failed last if another worker may not fail the same way: after a fault
// of the task, a hang, or a report of the store. Of two faults at a time, that of the nearer node counts.
func TestWhoMustWait(t *testing.T) {
	job := jobOfTrees(t, 4)
	b := boardOf("w", "x")
	j, leaf := b.Jobs.of(job), nodeTask(0, 0, 1)
	for _, c := range []struct {
		f    fault
		want bool
	}{{fault{}, false}, {fault{attempts: 1}, true}, {fault{hangs: 1}, true}, {fault{barred: 1}, true}} {
		c.f.task, c.f.worker = leaf, "w"
		j.faults = map[string]fault{string(taskKey(leaf)): c.f}
		if got := b.Jobs.mustWait(job, leaf, "w", 0); got != c.want {
			t.Errorf("after %+v it is withheld: %v", c.f, got)
		}
		if b.Jobs.mustWait(job, leaf, "x", 0) {
			t.Errorf("after %+v it is withheld from the other", c.f)
		}
		wake, ok := b.NextWake(0)
		if ok != c.want || ok && wake != b.cfg.LeaseTTL {
			t.Errorf("after %+v: wakes at %v, %v", c.f, wake, ok)
		}
	}
	for at, want := range map[time.Duration]string{4: "w", 5: "w", 6: "x"} {
		j.faults = map[string]fault{
			string(taskKey(leaf)):              {worker: "w", attempts: 1, at: 5},
			string(taskKey(nodeTask(0, 1, 0))): {worker: "x", attempts: 1, at: at},
		}
		for _, worker := range []string{"w", "x"} {
			if got := b.Jobs.mustWait(job, leaf, worker, 10); got != (worker == want) {
				t.Errorf("the node above failed at %v: withheld from %s is %v", at, worker, got)
			}
		}
	}
}

// A lease's time counts from when a worker was last heard of.
func TestWakesWhenAWorkerFallsSilent(t *testing.T) {
	job := jobOfTrees(t, 4)
	b := boardOf("w")
	b.Roster.list[0].LastSeen = 7 * time.Second
	b.Jobs.of(job).faults["x"] = fault{attempts: 1}
	if wake, ok := b.NextWake(8 * time.Second); !ok || wake != b.cfg.LeaseTTL+7*time.Second {
		t.Errorf("wakes at %v, %v", wake, ok)
	}
	b = boardOf("w")
	b.Roster.list[0].LastSeen, b.Deaths.loner = 7*time.Second, "w"
	if wake, ok := b.NextWake(8 * time.Second); !ok || wake != b.cfg.LeaseTTL+7*time.Second {
		t.Errorf("wakes at %v, %v, for the one that is kept apart", wake, ok)
	}
}

// The end of a quarantine wakes; one without an end does not.
func TestWakesWhenAQuarantineEnds(t *testing.T) {
	b := boardOf("w", "x")
	b.Roster.list[0].quarantined = math.MaxInt64
	if wake, ok := b.NextWake(0); ok {
		t.Errorf("wakes at %v for a worker that is out for good", wake)
	}
	b.Roster.list[1].quarantined = time.Minute
	if wake, ok := b.NextWake(0); !ok || wake != time.Minute {
		t.Errorf("wakes at %v, %v", wake, ok)
	}
}

// Another worker is one that is not quarantined any more.
func TestAnotherAfterItsQuarantine(t *testing.T) {
	job := jobOfTrees(t, 4)
	b := boardOf("w", "x")
	b.Roster.list[1].quarantined = time.Second
	for now, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
		if got := b.Roster.hasOther(job, "w", now); got != want {
			t.Errorf("at %v: there is another is %v", now, got)
		}
		if got := b.Roster.otherAtWork(b.Roster.list[0], now); got != want {
			t.Errorf("at %v: another at work is %v", now, got)
		}
		b.Roster.list[1].why = "why"
		if why := b.Roster.list[1].Quarantine(now); (why == "") != want {
			t.Errorf("at %v: %q", now, why)
		}
	}
}

// Five faults of three jobs within ten minutes quarantine a worker: not fewer, and not over a longer time.
func TestWhenAWorkerIsQuarantined(t *testing.T) {
	const late = time.Hour
	for _, c := range []struct {
		at   [5]time.Duration
		jobs [5]uint64
		want bool
	}{
		{[5]time.Duration{}, [5]uint64{1, 2, 3, 3, 3}, true},
		{[5]time.Duration{}, [5]uint64{1, 2, 2, 2, 2}, false},
		{[5]time.Duration{0, 0, 0, 0, 10 * time.Minute}, [5]uint64{1, 2, 3, 4, 5}, true},
		{[5]time.Duration{0, 0, 0, 0, 10*time.Minute + 1}, [5]uint64{1, 2, 3, 4, 5}, false},
	} {
		b := boardOf("w", "x")
		b.Roster.list[1].LastSeen = 2 * late
		for i := range 5 {
			if b.Roster.charge("w", c.jobs[i], late+c.at[i]); i < 4 && b.Roster.list[0].quarantined != 0 {
				t.Errorf("%v, %v: quarantined after %d faults", c.at, c.jobs, i+1)
			}
		}
		want := time.Duration(0)
		if c.want {
			want = late + c.at[4] + 10*time.Minute
		}
		if got := b.Roster.list[0].quarantined; got != want {
			t.Errorf("%v, %v: quarantined until %v, want %v", c.at, c.jobs, got, want)
		}
	}
}

// A quarantine that has just ended may begin again at once.
func TestAQuarantineMayFollowAnother(t *testing.T) {
	b := boardOf("w", "x")
	b.Roster.list[0].quarantined = time.Second
	for i := range uint64(5) {
		b.Roster.charge("w", i, time.Second)
	}
	if got := b.Roster.list[0].quarantined; got != time.Second+10*time.Minute {
		t.Errorf("quarantined until %v", got)
	}
}
