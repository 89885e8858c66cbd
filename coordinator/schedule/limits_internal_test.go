package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobOfTrees is a running job over the trees, as the log makes it.
func jobOfTrees(t *testing.T, trees ...uint32) *state.Job {
	t.Helper()
	view := state.New()
	for _, cmd := range []*pb.Command{
		{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: "a", SpecHash: "h"}}},
		{Body: &pb.Command_Start{Start: &pb.StartJob{Id: "a"}}},
		{Body: &pb.Command_Complete{Complete: &pb.CompleteTasks{Completions: []*pb.Completion{{
			Id: &pb.TaskID{JobId: "a", Kind: pb.TaskKind_TASK_KIND_PLAN},
			Output: &pb.TaskOutput{
				Manifest: objectRef(1), Plan: objectRef(2), Next: &pb.Next{Phase: "count", Trees: trees,
					State: objectRef(3)},
			},
		}}}}},
	} {
		next, reply := state.Apply(view, cmd)
		if reply.Err != nil {
			t.Fatal(reply.Err)
		}
		view = next
	}
	job, _ := view.Job("a")
	return job
}

func objectRef(n byte) *pb.ObjectRef {
	return &pb.ObjectRef{Sha256: append(make([]byte, 31), n), Size: 1}
}

func nodeTask(tree uint32, level, index int) Task {
	n := protocol.Node{Level: level, Index: index}
	return Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: n}
}

// Two nodes are related when one lies in the other, at whatever height.
func TestRelated(t *testing.T) {
	step := Task{Kind: pb.TaskKind_TASK_KIND_STEP}
	for _, c := range []struct {
		a, b Task
		want bool
	}{
		{nodeTask(0, 1, 2), nodeTask(0, 1, 2), true},
		{nodeTask(0, 1, 2), nodeTask(0, 1, 3), false},
		{nodeTask(0, 2, 1), nodeTask(0, 1, 2), true},
		{nodeTask(0, 2, 1), nodeTask(0, 1, 3), true},
		{nodeTask(0, 2, 1), nodeTask(0, 1, 1), false},
		{nodeTask(0, 3, 0), nodeTask(0, 1, 3), true},
		{nodeTask(0, 3, 0), nodeTask(0, 1, 4), false},
		{nodeTask(0, 2, 1), nodeTask(1, 1, 2), false},
		{step, step, true},
		{step, nodeTask(0, 0, 0), false},
	} {
		if related(c.a, c.b) != c.want || related(c.b, c.a) != c.want {
			t.Errorf("%v and %v: related is %v", c.a, c.b, !c.want)
		}
	}
}

// The job with the fewest leases and the next one, of equals the first.
func TestFewest(t *testing.T) {
	for _, c := range []struct {
		leased        []int
		least, second int
	}{
		{[]int{5}, 0, -1}, {[]int{1, 1}, 0, 1}, {[]int{2, 1}, 1, 0}, {[]int{2, 1, 2}, 1, 0}, {[]int{2, 1, 3}, 1, 0},
		{[]int{1, 2, 2}, 0, 1}, {[]int{3, 2, 1}, 2, 1}, {[]int{1, 3, 2}, 0, 2},
	} {
		turns := make([]turn, len(c.leased))
		for i, n := range c.leased {
			turns[i].leased = n
		}
		if least, second := fewest(turns); least != c.least || second != c.second {
			t.Errorf("%v: %d and %d, want %d and %d", c.leased, least, second, c.least, c.second)
		}
	}
}

// Live workers divide the leaves by their slots, in the order of their ids.
func TestPlaces(t *testing.T) {
	workers := []*Worker{{ID: "a", Slots: 1}, {ID: "b", Slots: 2}, {ID: "c", Slots: 3}}
	r := &Roster{cfg: DefaultConfig(), list: workers}
	for _, c := range []struct {
		leaves int
		want   []int
	}{{6, []int{0, 1, 3}}, {7, []int{0, 1, 3}}, {100, []int{0, 16, 50}}, {5, []int{0, 0, 2}}} {
		for i, id := range []string{"a", "b", "c"} {
			if at := r.place(id, c.leaves, 0); at != c.want[i] {
				t.Errorf("of %d leaves %s begins at %d, want %d", c.leaves, id, at, c.want[i])
			}
		}
	}
}

func TestTokensAreNumberedFromOne(t *testing.T) {
	b := NewBoard(DefaultConfig(), 7, state.New(), 0)
	for want := range uint64(3) {
		if got := b.nextToken(); got != (Token{Term: 7, Sequence: want + 1}) {
			t.Errorf("token %d is %+v", want+1, got)
		}
	}
}

// stirredBlocks lists the blocks in which merges are looked for, and forgets them.
func (m *leafMap) stirredBlocks() (blocks []int) {
	for at := m.stirred.next(0); at >= 0; at = m.stirred.next(at + 1) {
		blocks = append(blocks, at)
	}
	m.stirred.setRange(0, 64*len(m.stirred), false)
	return blocks
}

// A commit stirs the block in which it begins, a dropped lease all that it reaches into.
func TestStirredBlocks(t *testing.T) {
	m := newLeafMap(jobOfTrees(t, 200).Rounds.Open)
	if len(m.free) != 4 || len(m.stirred) != 1 || m.count != 200 || m.stirredBlocks() != nil {
		t.Errorf("200 leaves in %d words, %d words of blocks, %d free", len(m.free), len(m.stirred), m.count)
	}
	for _, c := range []struct {
		level, index int
		committed    []int
		dropped      []int
	}{
		{0, 62, []int{0}, []int{0}}, {0, 63, []int{0}, []int{0}}, {0, 64, []int{1}, []int{1}},
		{0, 199, []int{3}, []int{3}},
		{6, 1, []int{1}, []int{1}}, {7, 0, []int{0}, []int{0, 1}}, {8, 0, []int{0}, []int{0, 1, 2, 3}},
	} {
		n := protocol.Node{Level: c.level, Index: c.index}
		if m.committed(0, n); !slices.Equal(m.stirredBlocks(), c.committed) {
			t.Errorf("the commit of %v did not stir %v", n, c.committed)
		}
		if m.dropped(0, n, false); !slices.Equal(m.stirredBlocks(), c.dropped) {
			t.Errorf("the lease of %v, dropped, did not stir %v", n, c.dropped)
		}
	}
}

// A round has the nodes of its trees, and no others.
func TestNodesOfAForest(t *testing.T) {
	m := newLeafMap(jobOfTrees(t, 3, 3, 2).Rounds.Open)
	for _, c := range []struct {
		tree         uint32
		level, index int
		want         bool
	}{
		{0, 0, 2, true}, {0, 0, 3, false}, {1, 0, 2, true}, {1, 0, 3, false}, {1, 2, 0, true}, {1, 3, 0, false},
		{2, 1, 0, true}, {2, 0, 2, false}, {3, 0, 0, false}, {4, 0, 0, false},
	} {
		if m.valid(c.tree, protocol.Node{Level: c.level, Index: c.index}) != c.want {
			t.Errorf("tree %d, node %d/%d: valid is %v", c.tree, c.level, c.index, !c.want)
		}
	}
}

// A commit that is leased in spite of all is counted, where a person looks.
func TestCommittedNodesThatAreLeasedCount(t *testing.T) {
	job := jobOfTrees(t, 2)
	b := NewBoard(DefaultConfig(), 1, state.New(), 0)
	s := &search{board: b, job: job, memory: b.Jobs.of(job), worker: "w", want: 2}
	s.grant(nodeTask(0, 0, 0), nil)
	gone := nodeTask(0, 0, 1)
	gone.Changes = 9
	s.grant(gone, nil)
	if b.Jobs.Counts.CommittedLeased != 1 || b.Jobs.Counts.Granted != 2 {
		t.Errorf("%+v", b.Jobs.Counts)
	}
}

// The time that a lease took counts from its grant, for a fold by piece, and for a step granted at the very start, too.
// A lease that another leader granted does not count.
func TestWhatLeasesTeach(t *testing.T) {
	job := jobOfTrees(t, 4)
	b := NewBoard(DefaultConfig(), 1, state.New(), 0)
	j := b.Jobs.of(job)
	j.saw(&lease{task: nodeTask(0, 1, 0), granted: time.Second, merge: true, pieces: 2}, 0, 1400*time.Millisecond)
	j.saw(&lease{task: nodeTask(0, 1, 1), granted: time.Second}, 0, 1600*time.Millisecond)
	j.saw(&lease{task: nodeTask(0, 1, 0), granted: -1}, 0, time.Hour)
	fold, leaf := j.pace.folds.median(), j.pace.maps.median()
	if fold != 200*time.Millisecond || leaf != 300*time.Millisecond {
		t.Errorf("a piece takes %v, a leaf %v", fold, leaf)
	}
	for granted, want := range map[time.Duration]int{-1: 0, 0: 1} {
		j = newJobBoard(job)
		j.course = newTimeline(0)
		j.put(&lease{task: Task{Kind: pb.TaskKind_TASK_KIND_STEP, Round: 1}, worker: "w", granted: granted})
		if b.Jobs.abandon(j); j.pace.steps.seen != want {
			t.Errorf("a step granted at %v is seen %d times", granted, j.pace.steps.seen)
		}
	}
}

// The leader wakes for the first straggler of all; jobs without one change nothing.
func TestTheFirstStragglerWakes(t *testing.T) {
	b := boardOf()
	for _, at := range []time.Duration{0, 5, 7, 3, 4, 0} {
		b.stragglers.wakeAt(at)
	}
	if wake, ok := b.NextWake(1); !ok || wake != 3 {
		t.Errorf("wakes at %v, %v", wake, ok)
	}
}
