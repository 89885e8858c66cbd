package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Five leaves in two trees by hand, in three ranges of leaves 0, 1 and 2, 3 and 4: one is committed, one runs, one
// failed.
func TestCountLeaves(t *testing.T) {
	d := newDesk(t, 5, 3, 2)
	d.register("x", 5) // two slots: leases are of one leaf
	grants := d.lease("w", 3)
	if len(grants) != 3 {
		t.Fatal(grants)
	}
	d.complete(grants[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.fault("w", grants[1], pb.FailureClass_FAILURE_CLASS_TASK, protocol.CodePanic)
	counts := d.board.Jobs.CountLeaves(jobOf(d.view, "a"), 3)
	// leaves: 0 committed, 1 failed, 2 runs, 3 and 4 wait
	if !slices.Equal(counts.Committed, []uint32{1, 0, 0}) || !slices.Equal(counts.Failed, []uint32{0, 1, 0}) ||
		!slices.Equal(counts.Running, []uint32{0, 1, 0}) || counts.Merges != 0 {
		t.Errorf("%+v after %v", counts, grants)
	}
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	if counts := d.board.Jobs.CountLeaves(jobOf(d.view, "a"), 3); len(counts.Committed) != 0 {
		t.Errorf("a job that has ended has %+v", counts)
	}
}

// The counts agree with a walk over all leaves, whatever was leased, committed, merged and failed.
func TestCountLeavesAgreesWithAWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 16))
	for range 30 {
		trees := make([]uint32, 1+rng.IntN(4))
		for i := range trees {
			trees[i] = 1 + rng.Uint32N(300)
		}
		d := newDesk(t, 4, trees...)
		d.register("x", 4)
		for range 1 + rng.IntN(120) {
			for _, g := range d.lease("w", 1+rng.IntN(4)) {
				switch {
				case g.Task.Kind != pb.TaskKind_TASK_KIND_NODE:
				case rng.IntN(4) > 0:
					d.complete(g.Task, pb.Verdict_VERDICT_ACCEPTED)
				case rng.IntN(2) > 0:
					d.fault("w", g, pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, protocol.CodeStore)
				}
			}
		}
		job := jobOf(d.view, "a")
		ranges := 1 + rng.IntN(40)
		counts := d.board.Jobs.CountLeaves(job, ranges)
		if job.Rounds.Open.Complete() {
			continue
		}
		n := min(ranges, int(job.Rounds.Open.Leaves()))
		committed, running := walkLeaves(job, d.board, n)
		if !slices.Equal(counts.Committed, committed) || !slices.Equal(counts.Running, running) {
			t.Fatalf("trees %v, %d ranges: %+v, want %v and %v", trees, n, counts, committed, running)
		}
		for i, failed := range counts.Failed {
			first, end := i*int(job.Rounds.Open.Leaves())/n, (i+1)*int(job.Rounds.Open.Leaves())/n
			if int(failed+committed[i]+running[i]) > end-first {
				t.Errorf("range %d has %d leaves: %+v", i, end-first, counts)
			}
		}
	}
}

// A merge that was at work under another leader is one still: its leaves are committed.
func TestCountLeavesAfterAChangeOfLeader(t *testing.T) {
	d := newDesk(t, 1, 4)
	d.commit(node(0, 0), node(0, 1), node(0, 2))
	grants := d.lease("w", 1)
	for len(grants) > 0 && grants[0].Task.Node.Level == 0 {
		d.complete(grants[0].Task, pb.Verdict_VERDICT_ACCEPTED)
		grants = d.lease("w", 1)
	}
	if len(grants) != 1 {
		t.Fatal(grants)
	}
	before := d.board.Jobs.CountLeaves(jobOf(d.view, "a"), 1)
	d.board = schedule.NewBoard(d.cfg, 1, d.view, d.now)
	d.register("w", 1, heldOf(grants[0]))
	after := d.board.Jobs.CountLeaves(jobOf(d.view, "a"), 1)
	if before.Merges != 1 || after.Merges != 1 || after.Running[0] != 0 || after.Committed[0] != before.Committed[0] {
		t.Errorf("%+v, and under another leader %+v", before, after)
	}
}

// walkLeaves counts leaf by leaf what is committed and what runs.
func walkLeaves(job *state.Job, board *schedule.Board, n int) (committed, running []uint32) {
	committed, running = make([]uint32, n), make([]uint32, n)
	total, number := int(job.Rounds.Open.Leaves()), 0
	rangeOf := func(number int) int {
		i := 0
		for (i+1)*total/n <= number {
			i++
		}
		return i
	}
	for tree, leaves := range job.Rounds.Open.Trees {
		for leaf := range int(leaves) {
			_, done := job.Rounds.Open.Covering(uint32(tree), node(0, leaf))
			runs := slices.ContainsFunc(board.Live(), func(l schedule.LiveLease) bool {
				if l.Task.Kind != pb.TaskKind_TASK_KIND_NODE || l.Task.Tree != uint32(tree) {
					return false
				}
				first, end := job.Rounds.Open.Tree(uint32(tree)).Range(l.Task.Node)
				return first <= leaf && leaf < end
			})
			switch {
			case done:
				committed[rangeOf(number)]++
			case runs:
				running[rangeOf(number)]++
			}
			number++
		}
	}
	return committed, running
}

// The course has what is at work, until now; that of a job that was cancelled is remembered, of the last few such jobs.
func TestCourse(t *testing.T) {
	d := newDesk(t, 2, 4)
	grants := d.lease("w", 2)
	d.now += time.Second
	d.complete(grants[0].Task, pb.Verdict_VERDICT_ACCEPTED)
	d.now += time.Second
	course, running := d.board.Course(d.view, jobOf(d.view, "a"), d.now)
	if len(course.Marks) != 1 || len(running) != 1 || running[0].From != 0 || running[0].To != d.now ||
		running[0].Work != pb.TimelineWork_TIMELINE_WORK_MAP || running[0].Outcome != 0 {
		t.Fatalf("%+v, %+v", course.Marks, running)
	}
	d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	course, running = d.board.Course(d.view, jobOf(d.view, "a"), d.now)
	if len(course.Marks) != 2 || len(running) != 0 ||
		course.Marks[1].Outcome != pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN {
		t.Errorf("of a cancelled job: %+v, %+v", course.Marks, running)
	}
	first := jobOf(d.view, "a")
	for i := range 16 {
		id := fmt.Sprint("b", i)
		d.view = run(t, d.view, submit(id), start(id), completions(planned(id, 4)))
		d.lease("w", 1)
		d.view = run(t, d.view, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}})
		if course, _ := d.board.Course(d.view, jobOf(d.view, id), d.now); len(course.Marks) == 0 {
			t.Errorf("nothing is known of %s", id)
		}
	}
	if course, _ := d.board.Course(d.view, first, d.now); len(course.Marks) != 0 {
		t.Errorf("too much is remembered: %+v", course)
	}
}
