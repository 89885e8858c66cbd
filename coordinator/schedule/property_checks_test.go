package schedule_test

import (
	"slices"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What must hold of every grant, and of the board at any time.

func (f *floor) checkGrant(g schedule.Grant, slots int) {
	if g.Task.Kind != pb.TaskKind_TASK_KIND_NODE {
		return
	}
	job := jobOf(f.view, g.Task.JobID)
	if g.Task.Round != job.Rounds.Open.Number {
		f.Fatalf("granted %v in round %d", g.Task, job.Rounds.Open.Number)
	}
	if c, covered := job.Rounds.Open.Covering(g.Task.Tree, g.Task.Node); covered {
		f.Fatalf("granted %v, which %v covers", g.Task, c.Node)
	}
	shape := job.Rounds.Open.Tree(g.Task.Tree)
	first, end := shape.Range(g.Task.Node)
	if len(g.Pieces) == 0 {
		if g.Speculative { // as large as the first lease
			return
		}
		if limit := (int(job.Rounds.Open.Leaves()) + slots - 1) / slots; end-first > limit { // an even share
			f.Fatalf("granted %v of %d leaves; %d at most over %d slots", g.Task, end-first, limit, slots)
		}
		return
	}
	if len(g.Pieces) > f.cfg.MaxPieces {
		f.Fatalf("granted %v with %d pieces", g.Task, len(g.Pieces))
	}
	at := first
	for _, p := range g.Pieces {
		from, to := shape.Range(p.Node)
		if c, _ := job.Rounds.Open.Covering(p.Tree, p.Node); from != at || c != p {
			f.Fatalf("granted %v with the piece %v where leaf %d is next; committed there: %v", g.Task, p.Node, at, c)
		}
		at = to
	}
	if at != end {
		f.Fatalf("the pieces of %v end at leaf %d of %d", g.Task, at, end)
	}
}

// checkStep checks that a step gets all that is committed of a whole round: roots, or parts of them that are few, for a
// worker that folds them and while no node is leased.
func (f *floor) checkStep(g schedule.Grant, w *simWorker) {
	if g.Task.Kind != pb.TaskKind_TASK_KIND_STEP {
		return
	}
	open := jobOf(f.view, g.Task.JobID).Rounds.Open
	if !open.Whole() || !slices.Equal(g.Pieces, open.All()) {
		f.Fatalf("granted %v with %v; committed: %v", g.Task, g.Pieces, open.All())
	}
	more := len(g.Pieces) - len(open.Trees)
	if more == 0 {
		return
	}
	for _, l := range f.board.Live() {
		if l.Task.JobID == g.Task.JobID && l.Task.Kind == pb.TaskKind_TASK_KIND_NODE {
			f.Fatalf("granted %v with pieces while %v is leased", g.Task, l.Task)
		}
	}
	if !w.folds || more > f.cfg.StepPieces {
		f.Fatalf("granted %v with %d pieces more than trees to %s, which folds: %v", g.Task, more, w.id, w.folds)
	}
}

// checkSpeculative checks that a task has a second lease iff it is a speculative copy, by another worker, of a
// node of a round that is nearly done.
func (f *floor) checkSpeculative(g schedule.Grant, w *simWorker) {
	var holders []string
	for _, l := range f.board.Live() {
		if l.Task == g.Task {
			holders = append(holders, l.Worker)
		}
	}
	want := 1
	if g.Speculative {
		want = 2
		f.copies++
		if round := jobOf(f.view, g.Task.JobID).Rounds.Open; g.Task.Kind != pb.TaskKind_TASK_KIND_NODE ||
			4*round.Covered < 3*round.Leaves() {
			f.Fatalf("a speculative copy of %v with %d of %d leaves committed", g.Task, round.Covered, round.Leaves())
		}
	}
	if len(holders) != want || want == 2 && holders[0] == holders[1] || !slices.Contains(holders, w.id) {
		f.Fatalf("granted %v to %s (speculative: %v); it is leased to %v", g.Task, w.id, g.Speculative, holders)
	}
}

// checkWorkers checks that no worker joins as many as may be at work on a job; more may have announced
// themselves to a new leader.
func (f *floor) checkWorkers(g schedule.Grant, w *simWorker) {
	limit := jobOf(f.view, g.Task.JobID).MaxWorkers
	if limit == 0 {
		return
	}
	own := 0
	var others []string
	for _, l := range f.board.Live() {
		switch {
		case l.Task.JobID != g.Task.JobID:
		case l.Worker == w.id:
			own++
		case !slices.Contains(others, l.Worker):
			others = append(others, l.Worker)
		}
	}
	if own == 1 && len(others) >= limit {
		f.Fatalf("granted %v to %s beside %v; %d at most", g.Task, w.id, others, limit)
	}
}

func (f *floor) check() {
	if n := f.board.Jobs.Counts.CommittedLeased; n != 0 {
		f.Fatalf("%d committed nodes were leased", n)
	}
	live := f.board.Live()
	for i, a := range live {
		beside := 0
		for _, b := range live[:i] {
			switch {
			case a.Task == b.Task && a.Worker != b.Worker && a.Task.Kind == pb.TaskKind_TASK_KIND_NODE:
				beside++
			case a.Task.JobID == b.Task.JobID && a.Task.Kind == b.Task.Kind && a.Task.Tree == b.Task.Tree &&
				overlap(f.view, a.Task, b.Task):
				f.Fatalf("%v and %v are both leased", a, b)
			}
		}
		if beside > 1 {
			f.Fatalf("%v is leased more than twice: %v", a.Task, live)
		}
	}
	copies := uint64(0)
	for _, l := range live {
		if l.Speculative {
			copies++
		}
	}
	if n := f.board.Jobs.Counts.SpeculativeCopies; n.Launched != n.Won+n.Wasted+copies {
		f.Fatalf("of %d speculative copies %d won, %d were in vain and %d are at work",
			n.Launched, n.Won, n.Wasted, copies)
	}
}

func overlap(view state.State, a, b schedule.Task) bool {
	if a.Kind != pb.TaskKind_TASK_KIND_NODE {
		return true
	}
	shape := jobOf(view, a.JobID).Rounds.Open.Tree(a.Tree)
	aFirst, aEnd := shape.Range(a.Node)
	bFirst, bEnd := shape.Range(b.Node)
	return aFirst < bEnd && bFirst < aEnd
}
