package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	done    = pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
	mapWork = pb.TimelineWork_TIMELINE_WORK_MAP
	folding = pb.TimelineWork_TIMELINE_WORK_MERGE
)

// Marks of one slot are joined if the pause is shorter than the grain and both are usual work of one kind and round.
// When even an hour's grain is not enough, kind and round may differ.
func TestWhichMarksAreJoined(t *testing.T) {
	last := Mark{From: 0, To: 10, Work: mapWork, Round: 1, Tasks: 2, Outcome: done}
	next := func(change func(*Mark)) Mark {
		m := Mark{From: 14, To: 20, Work: mapWork, Round: 1, Tasks: 3, Outcome: done}
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		grain time.Duration
		blend bool
		m     Mark
		joins bool
	}{
		"no grain":     {0, false, next(func(m *Mark) { m.From = 5 }), false},
		"as the grain": {4, false, next(func(*Mark) {}), false},
		"shorter":      {5, false, next(func(*Mark) {}), true},
		"failed": {5, true, next(func(m *Mark) { m.Outcome = pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED }),
			false},
		"speculative":   {5, true, next(func(m *Mark) { m.Speculative = true }), false},
		"other slot":    {5, true, next(func(m *Mark) { m.Slot = 1 }), false},
		"other work":    {5, false, next(func(m *Mark) { m.Work = folding }), false},
		"other round":   {5, false, next(func(m *Mark) { m.Round = 2 }), false},
		"blended work":  {5, true, next(func(m *Mark) { m.Work = folding }), true},
		"blended round": {5, true, next(func(m *Mark) { m.Round = 2 }), true},
	} {
		line := newTimeline(0)
		line.Grain, line.blend = c.grain, c.blend
		line.add(last)
		if line.add(c.m); (len(line.Marks) == 1) != c.joins {
			t.Errorf("%s: %d marks", name, len(line.Marks))
			continue
		}
		if got := line.Marks[0]; c.joins {
			want := last
			want.To, want.Tasks = 20, 5
			if c.m.Work != mapWork {
				want.Work = pb.TimelineWork_TIMELINE_WORK_SEVERAL
			}
			if c.m.Round != 1 {
				want.Round = 0
			}
			if got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// The grain doubles from a millisecond to an hour and more; then kinds blend; then the oldest marks go, and are
// counted.
func TestHowATimelineGrowsCoarse(t *testing.T) {
	line := newTimeline(0)
	now := time.Duration(0)
	fill := func(marks int) {
		for range marks { // far apart, and none usual: no grain joins them
			line.add(Mark{From: now, To: now, Outcome: pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED, Tasks: 1})
			now += time.Second
		}
	}
	fill(maxMarks * 3 / 4)
	grain := time.Millisecond
	for ; grain < 2*coarsestGrain; grain *= 2 {
		if line.coarsen(); line.Grain != grain || line.blend {
			t.Fatalf("grain %v, want %v; blended: %v", line.Grain, grain, line.blend)
		}
		if line.Grain >= coarsestGrain {
			break
		}
	}
	line.Grain = coarsestGrain
	if line.coarsen(); line.Grain != coarsestGrain || !line.blend || line.MarksLost != 0 {
		t.Fatalf("grain %v, blended: %v, %d lost", line.Grain, line.blend, line.MarksLost)
	}
	fill(7)
	oldest := line.Marks[7]
	if line.coarsen(); line.MarksLost != 7 || len(line.Marks) != maxMarks*3/4 || line.Marks[0] != oldest {
		t.Errorf("%d marks, %d lost, from %v on", len(line.Marks), line.MarksLost, line.Marks[0].From)
	}
}

// The grain doubles until a quarter is free, and no further: marks 1.5 ms apart stay apart where it is enough to join
// those without a pause.
func TestATimelineGrowsCoarseUntilAQuarterIsFree(t *testing.T) {
	const quarter = maxMarks / 4
	for joined, want := range map[int]time.Duration{quarter: time.Millisecond, quarter - 1: 2 * time.Millisecond} {
		line, now := newTimeline(0), time.Duration(0)
		for i := range maxMarks {
			line.add(Mark{From: now, To: now, Work: mapWork, Round: 1, Tasks: 1, Outcome: done})
			if i >= joined {
				now += 3 * time.Millisecond / 2
			}
		}
		if line.coarsen(); line.Grain != want || len(line.Marks) > maxMarks-quarter {
			t.Errorf("%d marks without a pause: grain %v, want %v, %d marks", joined, line.Grain, want, len(line.Marks))
		}
	}
}

// As many marks, workers and events fit as the bounds say, and one more is one too many.
func TestTheBoundsOfATimeline(t *testing.T) {
	line := newTimeline(0)
	leases := make([]*lease, maxLanes+2)
	for i := range leases {
		leases[i] = &lease{worker: fmt.Sprint(i), task: nodeTask(0, 0, i)}
		line.begin(leases[i], Worker{ID: leases[i].worker})
		line.event(0, pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED, "w", leases[i].task)
	}
	if len(line.Workers) != maxLanes || leases[maxLanes-1].lane != maxLanes-1 || leases[maxLanes].lane != -1 {
		t.Errorf("%d workers, the last on %d, one more on %d",
			len(line.Workers), leases[maxLanes-1].lane, leases[maxLanes].lane)
	}
	if len(line.Events) != maxEvents || line.EventsLost != maxLanes+2-maxEvents {
		t.Errorf("%d events, %d lost", len(line.Events), line.EventsLost)
	}
	for _, l := range leases {
		line.end(l, time.Second, done)
	}
	if len(line.Marks) != maxLanes || line.MarksLost != 2 {
		t.Errorf("%d marks, %d lost", len(line.Marks), line.MarksLost)
	}
	for len(line.Marks) < maxMarks-1 {
		line.add(Mark{Tasks: 1, Outcome: pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED})
	}
	for want := range 2 {
		line.begin(leases[0], Worker{ID: "0"})
		if line.end(leases[0], time.Second, done); (line.Grain > 0) != (want == 1) {
			t.Errorf("%d marks more: grain %v", want+1, line.Grain)
		}
	}
}

// A lease of another timeline, such as one of before a round began anew, leaves no mark here and frees no slot.
func TestALeaseOfAnotherTimeline(t *testing.T) {
	line := newTimeline(0)
	mine := &lease{worker: "w"}
	line.begin(mine, Worker{ID: "w"})
	line.end(&lease{worker: "x", lane: 1}, 1, done)
	line.end(&lease{worker: "w", slot: 1}, 1, done)
	if len(line.Marks) != 0 || line.MarksLost != 0 || !line.busy[0][0] {
		t.Errorf("%d marks, %d lost", len(line.Marks), line.MarksLost)
	}
}

// People read a worker's name where it has one. One whose lease ran out while it called is not lost.
func TestWorkersOnATimeline(t *testing.T) {
	job := jobOfTrees(t, 4)
	b := boardOf("named", "plain")
	b.Roster.list[0].Name = "host-1"
	for id, want := range map[string]string{"named": "host-1", "plain": "plain", "gone": "gone"} {
		if got := b.Roster.nameOf(id); got != want {
			t.Errorf("%s is called %s", id, got)
		}
	}
	j, now := b.Jobs.of(job), b.cfg.LeaseTTL+time.Hour
	b.Roster.list[0].LastSeen, b.Roster.list[1].LastSeen = time.Hour, time.Hour+1
	void := []*lease{{worker: "named", task: nodeTask(0, 0, 0)}, {worker: "plain", task: nodeTask(0, 0, 1)}}
	b.Jobs.tellLost(j, void, now)
	var got []string
	for _, e := range j.course.Events {
		got = append(got, fmt.Sprint(e.Worker, " ", e.What))
	}
	want := fmt.Sprint([]string{
		fmt.Sprint("host-1 ", pb.TimelineEventKind_TIMELINE_EVENT_KIND_WORKER_LOST),
		fmt.Sprint("host-1 ", pb.TimelineEventKind_TIMELINE_EVENT_KIND_LEASE_EXPIRED),
		fmt.Sprint("plain ", pb.TimelineEventKind_TIMELINE_EVENT_KIND_LEASE_EXPIRED),
	})
	if fmt.Sprint(got) != want {
		t.Errorf("told %v, want %v", got, want)
	}
}

// Of a job accepted before it a leader knows the course from its election on; of later ones from their beginning.
func TestSinceWhenACourseIsKnown(t *testing.T) {
	job := jobOfTrees(t, 4)
	for _, c := range []struct {
		next  uint64
		began time.Duration
		want  time.Duration
	}{{job.Number, 5, 0}, {job.Number + 1, 5, 5}, {job.Number + 1, 0, 1}} {
		view := state.New()
		view.NextJob = c.next
		b := NewBoard(DefaultConfig(), 1, view, c.began)
		if b.Jobs.of(job); b.Jobs.Timeline(job).Since != c.want {
			t.Errorf("job %d, the leader's first is %d: known since %v, want %v",
				job.Number, c.next, b.Jobs.Timeline(job).Since, c.want)
		}
	}
}
