package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The first lease sets the pace, later ones count half.
func TestThePaceOfAPhase(t *testing.T) {
	var p pace
	for _, c := range []struct {
		leaves     int
		took, leaf time.Duration
	}{{2, 80, 40}, {1, 80, 60}, {4, 80, 40}} {
		if p.saw(c.leaves, c.took, 0); p.leaf != c.leaf {
			t.Errorf("%d leaves in %d: the pace is %d, want %d", c.leaves, c.took, p.leaf, c.leaf)
		}
	}
}

// A lease is a quarter of an even share of what is free, or as many leaves as take 200 ms, up to an even share of all.
func TestLeavesOfALease(t *testing.T) {
	for _, c := range []struct {
		leaf               time.Duration
		total, free, slots int
		want               int
	}{
		{0, 64, 64, 2, 8}, {0, 64, 15, 2, 1}, {0, 64, 16, 2, 2}, {0, 64, 0, 2, 1},
		{time.Millisecond, 8, 8, 4, 2}, {time.Millisecond, 9, 9, 4, 3}, {time.Millisecond, 1000, 4, 1, 200},
		{201 * time.Millisecond, 8, 8, 4, 1}, {100 * time.Millisecond, 8, 8, 2, 2}, {time.Second, 64, 64, 2, 8},
	} {
		p := pace{leaf: c.leaf}
		if got := p.leavesOfLease(c.total, c.free, c.slots); got != c.want {
			t.Errorf("%+v: %d leaves", c, got)
		}
	}
}

// A task stands still for too long after a minute, or five times as long as such a lease takes in all. Each time it
// stood still before doubles that. While fewer than eight such leases are known, the limit is half an hour.
func TestHowLongATaskMayStandStill(t *testing.T) {
	leaves := nodeTask(0, 1, 1)
	for name, c := range map[string]struct {
		seen  int
		took  time.Duration // a leaf, a piece or a step
		l     lease
		hangs int
		limit time.Duration
	}{
		"seven leaves":  {7, time.Second, lease{task: leaves}, 0, 30 * time.Minute},
		"quick leaves":  {8, time.Second, lease{task: leaves}, 0, time.Minute},
		"no time":       {8, 0, lease{task: leaves}, 0, time.Minute},
		"slow leaves":   {8, time.Minute, lease{task: leaves}, 0, 10 * time.Minute},
		"a merge":       {8, time.Minute, lease{task: leaves, merge: true, pieces: 3}, 0, 15 * time.Minute},
		"a step":        {8, time.Minute, lease{task: Task{Kind: pb.TaskKind_TASK_KIND_STEP}}, 0, 5 * time.Minute},
		"a plan":        {8, time.Minute, lease{task: Task{Kind: pb.TaskKind_TASK_KIND_PLAN}}, 0, 30 * time.Minute},
		"a second time": {8, time.Second, lease{task: leaves}, 1, 2 * time.Minute},
	} {
		j := newJobBoard(jobOfTrees(t, 8))
		for range c.seen {
			j.pace.maps.add(c.took)
			j.pace.folds.add(c.took)
			j.pace.steps.add(c.took)
		}
		j.faults[string(taskKey(c.l.task))] = fault{hangs: c.hangs}
		const began = 3 * time.Hour
		j.hung(&c.l, 5, began)
		if j.hung(&c.l, 5, began+c.limit) || !j.hung(&c.l, 5, began+c.limit+1) {
			t.Errorf("%s: it may not stand still for just %v", name, c.limit)
		}
	}
}

// With a jitter of one millisecond, a tick comes due at once or a millisecond late. A jitter that reaches the next tick
// ends a millisecond before it.
func TestTheBoundsOfJitter(t *testing.T) {
	for _, c := range []struct {
		jitter int64
		next   time.Duration
		want   []int64
	}{
		{0, time.Minute, []int64{0}}, {1, time.Minute, []int64{0, 1}}, {2, time.Minute, []int64{0, 1, 2}},
		{60_000, 3 * time.Millisecond, []int64{0, 1, 2}}, {60_000, time.Millisecond, []int64{0}},
	} {
		sched := &state.Schedule{Definition: &pb.PutSchedule{Id: "n", JitterMs: c.jitter}}
		var seen []int64
		for i := range int64(200) {
			tick := time.UnixMilli(1e12 + i)
			late := dueAt(sched, tick, tick.Add(c.next)).Sub(tick).Milliseconds()
			if !slices.Contains(seen, late) {
				seen = append(seen, late)
			}
		}
		if slices.Sort(seen); !slices.Equal(seen, c.want) {
			t.Errorf("jitter of %d ms, %v to the next tick: late by %v", c.jitter, c.next, seen)
		}
	}
}

// The set does what a slice of booleans does, over the bounds of its words.
func TestBitsetAtItsWords(t *testing.T) {
	const n = 130
	bounds := []int{0, 1, 62, 63, 64, 65, 127, 128, 129, 130}
	for _, size := range []int{1, 63, 64, 65, 128} {
		if got, want := len(newBitset(size)), (size-1)/64+1; got != want {
			t.Errorf("%d members take %d words", size, got)
		}
	}
	for _, first := range bounds {
		for _, end := range bounds {
			set, size := newBitset(n), max(0, end-first)
			if set.setRange(first, end, true) != size || set.setRange(first, end, true) != 0 {
				t.Errorf("[%d, %d) does not add %d members once", first, end, size)
			}
			for _, at := range bounds[:len(bounds)-1] {
				checkBitsetAt(t, set, first, max(first, end), at)
			}
			others, own, rest := set.setRange(0, n, true), set.setRange(first, end, false), set.setRange(0, n, false)
			if others != n-size || own != size || rest != n-size {
				t.Errorf("[%d, %d) does not remove %d members", first, end, size)
			}
		}
	}
}

// checkBitsetAt checks what a set with the members [first, end) has from one on.
func checkBitsetAt(t *testing.T, set bitset, first, end, at int) {
	t.Helper()
	next, run := -1, 0
	if at < end && first < end {
		next = max(at, first)
	}
	if at >= first {
		run = max(0, end-at)
	}
	if got := set.next(at); got != next {
		t.Errorf("[%d, %d): next(%d) is %d, want %d", first, end, at, got, next)
	}
	for _, limit := range []int{0, 1, 63, 64, 65, 130, 200} {
		if got := set.run(at, limit); got != min(run, limit) {
			t.Errorf("[%d, %d): run(%d, %d) is %d, want %d", first, end, at, limit, got, min(run, limit))
		}
	}
}

// How long a lease of leaves usually takes depends on the tree that its node is in.
func TestUsualOfANodeBehindAnotherTree(t *testing.T) {
	j := newJobBoard(jobOfTrees(t, 4, 4))
	for range hangSeen {
		j.pace.maps.add(time.Minute)
	}
	l := &lease{task: Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: 1, Node: protocol.Node{Level: 1, Index: 1}}}
	if got := j.usual(l); got != 2*time.Minute {
		t.Errorf("two leaves usually take %v", got)
	}
}
