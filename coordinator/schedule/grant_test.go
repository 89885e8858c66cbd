package schedule_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Five leaves and two slots: 5/(4*2) is less than one, so leaves are leased one by one.
func TestTreeOfFiveWithTwoSlots(t *testing.T) {
	d := newDesk(t, 2, 5)
	d.wantNodes("w", 2, node(0, 0), node(0, 1))
	d.wantNodes("w", 2, node(0, 2), node(0, 3))
	d.commit(node(0, 1), node(0, 3))
	d.wantNodes("w", 2, node(0, 4)) // 0 and 2 are at work: nothing can be merged
	d.commit(node(0, 0))
	merge := d.wantNodes("w", 2, node(1, 0)) // 0 and 1 are there; 2 is not, so (1,1) has to wait
	if got := pieces(merge[0]); !slices.Equal(got, []protocol.Node{node(0, 0), node(0, 1)}) {
		t.Errorf("pieces of (1,0): %v", got)
	}
	d.commit(node(0, 4), node(1, 0))
	d.wantNodes("w", 2)
	d.commit(node(0, 2))
	root := d.wantNodes("w", 2, node(3, 0))
	if got := pieces(root[0]); !slices.Equal(got, []protocol.Node{node(1, 0), node(0, 2), node(0, 3), node(0, 4)}) {
		t.Errorf("pieces of the root: %v", got)
	}
	d.commit(node(3, 0))
	step := d.lease("w", 2)
	if len(step) != 1 || step[0].Task.Kind != pb.TaskKind_TASK_KIND_STEP || len(step[0].Pieces) != 1 {
		t.Errorf("after the root: %+v", step)
	}
}

func TestMapsComeBeforeMerges(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.wantNodes("w", 2, node(0, 0), node(0, 1))
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 1, node(0, 2))
	d.wantNodes("w", 2, node(0, 3), node(1, 0))
}

func TestMergesNeedContiguousPieces(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.wantNodes("w", 4, node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	d.commit(node(0, 0), node(0, 2))
	d.wantNodes("w", 4) // leaves 1 and 3 are missing
	d.commit(node(0, 3))
	d.wantNodes("w", 4, node(1, 1))
}

// 64 leaves over two slots: 8 at first, then an eighth of what is left. What is no
// power of two is rounded down to a node.
func TestLeasesShrinkTowardsTheEnd(t *testing.T) {
	d := newDesk(t, 2, 64)
	free := 64
	for free > 0 {
		limit := max(1, free/8)
		grants := d.lease("w", 1)
		if len(grants) != 1 {
			t.Fatalf("%d leaves are free, %d grants", free, len(grants))
		}
		first, end := protocol.Tree(64).Range(grants[0].Task.Node)
		if size := end - first; size > limit || 2*size <= limit && free >= 16 && first%(2*size) == 0 {
			t.Fatalf("%d leaves are free: %v has %d leaves, the limit is %d", free, grants[0].Task.Node, size, limit)
		}
		free -= end - first
	}
	d.wantNodes("w", 1)
}

// A reduce folds no more than MaxPieces, so a wide tree takes more than one layer of them.
func TestMergesAreBounded(t *testing.T) {
	d := newDesk(t, 1000, 256)
	d.lease("w", 256)
	for i := range 256 {
		d.commit(node(0, i))
	}
	grants := d.wantNodes("w", 8, node(6, 0), node(6, 1), node(6, 2), node(6, 3))
	for _, g := range grants {
		if len(g.Pieces) != 64 {
			t.Errorf("%v folds %d pieces", g.Task.Node, len(g.Pieces))
		}
		d.commit(g.Task.Node)
	}
	d.wantNodes("w", 8, node(8, 0))
}

func TestForestOfLeavesNeedsNoMerges(t *testing.T) {
	trees := make([]uint32, 100)
	for i := range trees {
		trees[i] = 1
	}
	d := newDesk(t, 4, trees...)
	grants := d.lease("w", 1000)
	if len(grants) != 100 {
		t.Fatalf("%d grants", len(grants))
	}
	for i, g := range grants {
		if g.Task.Tree != uint32(i) || g.Task.Node != node(0, 0) {
			t.Fatalf("grant %d is %v", i, g.Task)
		}
		d.complete(g.Task, pb.Verdict_VERDICT_ACCEPTED)
	}
	if step := d.lease("w", 1); len(step) != 1 || len(step[0].Pieces) != 100 {
		t.Errorf("after the forest: %d grants", len(step))
	}
}

// A commit the board was not told of (its proposer lost track of it) must not be leased.
func TestCommitsUnknownToTheBoard(t *testing.T) {
	d := newDesk(t, 1, 6)
	unknown := schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: node(1, 1)}
	d.view = run(t, d.view, completions(nodeDone(unknown)))
	d.wantNodes("w", 6, node(0, 0), node(0, 1), node(0, 4), node(0, 5))
	d.commit(node(0, 0), node(0, 1))
	d.wantNodes("w", 6, node(2, 0))
	if n := d.board.Jobs.Counts.CommittedLeased; n != 0 {
		t.Errorf("%d committed nodes were leased", n)
	}
}

func TestDecideAdmitsInOrderWhileThereIsRoom(t *testing.T) {
	cfg := schedule.DefaultConfig()
	cfg.MaxRunning = 3
	view := run(t, state.New(), submit("c"), submit("b"), submit("a"), submit("d"), start("b"))
	var started []string
	for _, cmd := range schedule.Decide(cfg, view) {
		started = append(started, cmd.GetStart().GetId())
	}
	if !slices.Equal(started, []string{"c", "a"}) {
		t.Errorf("started %v", started)
	}
}

// A merge whose worker has died is leased again, though nothing was committed since.
func TestExpiredMergeIsLeasedAgain(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.lease("w", 4)
	d.commit(node(0, 0), node(0, 1), node(0, 2), node(0, 3))
	d.wantNodes("w", 1, node(2, 0))
	d.now += d.cfg.LeaseTTL
	d.wantNodes("w", 1, node(2, 0))
}
