package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// floor is a small cluster on a pretend clock: a board, the state as the truth, and
// workers that die, pause, and report late or twice.
type floor struct {
	*rapid.T
	cfg     schedule.Config
	view    state.State
	board   *schedule.Board
	term    uint64
	last    schedule.Token // granted
	now     time.Duration
	workers []*simWorker
	mail    []report // on its way, in any order
	born    int
	copies  int                 // granted
	folds   int                 // steps that were made from pieces, and accepted
	shapes  map[string][]uint32 // of each job's rounds; empty after the last
}

// simWorker is a worker as it sees itself.
type simWorker struct {
	id     string
	slots  int
	folds  bool // in steps; workers of older releases do not
	held   []schedule.Grant
	paused bool
}

type report struct {
	worker string
	grant  schedule.Grant
	class  pb.FailureClass // unspecified: an output
	code   protocol.Code
}

const floorRounds = 2

func newFloor(t *rapid.T) *floor {
	f := &floor{T: t, cfg: schedule.DefaultConfig(), view: state.New(), shapes: make(map[string][]uint32)}
	f.cfg.MaxAttempts = 1 << 20 // the faults below must not fail jobs
	f.cfg.MaxPieces = rapid.IntRange(2, 5).Draw(t, "pieces")
	f.cfg.StepPieces = rapid.IntRange(0, 16).Draw(t, "pieces of a step")
	f.elect()
	for i := range rapid.IntRange(1, 2).Draw(t, "jobs") {
		id := fmt.Sprint("job", i)
		f.shapes[id] = rapid.SliceOfN(rapid.Uint32Range(1, 40), 1, 3).Draw(t, "trees")
		f.apply(submitted(id, rapid.Int32Range(-1, 1).Draw(t, "priority"),
			rapid.Uint32Range(0, 2).Draw(t, "max workers")))
	}
	return f
}

func (f *floor) apply(cmd *pb.Command) state.Reply {
	next, reply := state.Apply(f.view, cmd)
	f.view = next
	return reply
}

// elect makes a leader of a higher term; its memory is empty.
func (f *floor) elect() {
	f.term += rapid.Uint64Range(1, 3).Draw(f.T, "terms")
	f.board = schedule.NewBoard(f.cfg, f.term, f.view, f.now)
}

func (f *floor) hire() {
	w := &simWorker{id: fmt.Sprint("w", f.born), slots: rapid.IntRange(1, 3).Draw(f.T, "slots"),
		folds: rapid.IntRange(0, 3).Draw(f.T, "folds in steps") > 0}
	f.born++
	f.workers = append(f.workers, w)
}

func (w *simWorker) holding() []schedule.Held {
	var held []schedule.Held
	for _, g := range w.held {
		held = append(held, heldOf(g))
	}
	return held
}

// beat does what a worker's heartbeat does.
func (f *floor) beat(w *simWorker) {
	if !f.board.Known(w.id, f.now) {
		f.board.Register(f.view, schedule.Worker{ID: w.id, Slots: w.slots, FoldsInSteps: w.folds}, w.holding(), f.now)
	}
	lost := f.board.Heartbeat(f.view, w.id, w.holding(), f.now)
	w.held = slices.DeleteFunc(w.held, func(g schedule.Grant) bool { return slices.Contains(lost, g.Task) })
}

// lease does what a worker's call does, and checks what is granted.
func (f *floor) lease(w *simWorker) {
	if !f.board.Known(w.id, f.now) || len(w.held) >= w.slots {
		return
	}
	slots := 0
	for _, other := range f.board.Roster.Live(f.now) {
		slots += other.Slots
	}
	for _, g := range f.board.Lease(f.view, w.id, w.slots-len(w.held), f.now) {
		if g.Token.Term < f.last.Term || g.Token.Term == f.last.Term && g.Token.Sequence <= f.last.Sequence {
			f.Fatalf("token %v after %v", g.Token, f.last)
		}
		f.last = g.Token
		f.checkGrant(g, slots)
		f.checkStep(g, w)
		f.checkSpeculative(g, w)
		f.checkWorkers(g, w)
		w.held = append(w.held, g)
	}
}

// output is what any honest worker makes of a task.
func (f *floor) output(t schedule.Task) *pb.Completion {
	c := nodeDone(t)
	next := &pb.Next{Phase: "count", Trees: f.shapes[t.JobID], State: ref(uint64(t.Round) + 1000),
		Done: t.Round == floorRounds}
	switch t.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		c.Output = &pb.TaskOutput{Manifest: ref(1), Plan: ref(2), Next: next}
	case pb.TaskKind_TASK_KIND_STEP:
		c.Output = &pb.TaskOutput{Next: next}
	case pb.TaskKind_TASK_KIND_REPORT:
		c.Output = &pb.TaskOutput{Files: []*pb.OutputFile{{Name: "m", Sha256: ref(9).Sha256, Size: 1}}}
	}
	return c
}

// deliver does what the coordinator does with a report; now and then it loses track
// of a commit, as when its caller goes away.
func (f *floor) deliver(r report, forget bool) {
	t := r.grant.Task
	if r.class != pb.FailureClass_FAILURE_CLASS_UNSPECIFIED {
		failure := &pb.Failure{Class: r.class, Code: string(r.code)}
		if cmd := f.board.Fault(f.view, r.worker, heldOf(r.grant), failure, f.now); cmd != nil {
			f.Fatalf("%v fails the job: %v", t, cmd)
		}
		return
	}
	made := f.output(t)
	if basis := state.Basis(r.grant.Pieces); basis != [32]byte{} || t.Kind == pb.TaskKind_TASK_KIND_NODE {
		made.FoldedFrom = basis[:]
	}
	trees := len(jobOf(f.view, t.JobID).Rounds.Open.Trees)
	verdict := f.apply(completions(made)).Verdicts[0]
	switch job := jobOf(f.view, t.JobID); {
	case verdict == pb.Verdict_VERDICT_VIOLATION || verdict == pb.Verdict_VERDICT_INVALID:
		f.Fatalf("%v: %v", t, verdict)
	case verdict == pb.Verdict_VERDICT_ACCEPTED && t.Kind == pb.TaskKind_TASK_KIND_STEP && len(r.grant.Pieces) > trees:
		f.folds++
	case verdict == pb.Verdict_VERDICT_STALE && !forget:
		f.board.Stale(job, heldOf(r.grant), r.worker, f.now)
		return
	}
	if job := jobOf(f.view, t.JobID); !forget && t.Round == job.Rounds.Open.Number {
		f.board.Done(job, t, r.worker, verdict == pb.Verdict_VERDICT_ACCEPTED, f.now)
	}
}

// finish hands one task's outcome to the mail.
func (f *floor) finish(w *simWorker, i int, class pb.FailureClass, code protocol.Code) {
	f.mail = append(f.mail, report{worker: w.id, grant: w.held[i], class: class, code: code})
	w.held = slices.Delete(w.held, i, i+1)
}

func (f *floor) decide() {
	for _, cmd := range schedule.Decide(f.cfg, f.view) {
		f.apply(cmd)
	}
}

// step does one thing that may happen.
func (f *floor) step() {
	f.decide()
	if len(f.workers) == 0 {
		f.hire()
	}
	at := rapid.IntRange(0, len(f.workers)-1).Draw(f.T, "worker")
	w := f.workers[at]
	switch action := rapid.IntRange(0, 23).Draw(f.T, "action"); { // small numbers are drawn more often
	case action <= 3 && !w.paused:
		f.lease(w)
	case action <= 8 && !w.paused && len(w.held) > 0:
		f.outcome(w)
	case action <= 12 && len(f.mail) > 0:
		f.post()
	case action <= 15 && !w.paused:
		f.beat(w)
	case action <= 18:
		f.now += time.Duration(rapid.Int64Range(1, f.cfg.LeaseTTL.Milliseconds()).Draw(f.T, "time")) * time.Millisecond
	case action <= 20:
		f.workers = slices.Delete(f.workers, at, at+1) // dead, with what it held
	case action == 21:
		f.hire()
	case action == 22:
		w.paused = !w.paused
	default:
		f.elect()
	}
}

// post delivers one report, and may keep it to deliver it again.
func (f *floor) post() {
	i := rapid.IntRange(0, len(f.mail)-1).Draw(f.T, "letter")
	r := f.mail[i]
	if rapid.IntRange(0, 4).Draw(f.T, "again") < 4 {
		f.mail = slices.Delete(f.mail, i, i+1)
	}
	f.deliver(r, rapid.IntRange(0, 4).Draw(f.T, "forget") == 4)
}

func (f *floor) outcome(w *simWorker) {
	i := rapid.IntRange(0, len(w.held)-1).Draw(f.T, "task")
	switch rapid.IntRange(0, 15).Draw(f.T, "outcome") {
	case 13:
		f.finish(w, i, pb.FailureClass_FAILURE_CLASS_TASK, protocol.CodePanic)
	case 14:
		f.finish(w, i, pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, protocol.CodeStore)
	case 15:
		f.finish(w, i, pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, protocol.CodeDrained)
	default:
		f.finish(w, i, pb.FailureClass_FAILURE_CLASS_UNSPECIFIED, "")
	}
}

// settle lets the cluster work without faults until every job has ended, in a
// number of turns that follows from the work and the waiting times. One worker is slow at first.
func (f *floor) settle() {
	f.hire()
	slow := rapid.SampledFrom(f.workers).Draw(f.T, "slow")
	slowTurns := rapid.IntRange(0, 50).Draw(f.T, "slow turns")
	nodes := 0
	for _, trees := range f.shapes { // a sum, in any order
		for _, n := range trees {
			nodes += floorRounds * 2 * int(n)
		}
	}
	for turn := 0; f.view.ActiveCount() > 0; turn++ {
		if turn > 100+slowTurns+nodes {
			f.Fatalf("%d jobs have not ended after %d turns without faults; leased: %v", f.view.ActiveCount(), turn,
				f.board.Live())
		}
		f.decide()
		for _, w := range f.workers {
			w.paused = false
			f.beat(w)
			f.lease(w)
			f.check()
			for len(w.held) > 0 && (w != slow || turn >= slowTurns) {
				f.finish(w, 0, pb.FailureClass_FAILURE_CLASS_UNSPECIFIED, "")
			}
		}
		for _, r := range f.mail {
			f.deliver(r, false)
		}
		f.mail = nil
		f.now += f.cfg.LeaseTTL / 4
	}
}

// Whatever happens, no committed node is leased, leases do not overlap but for two of one node
// by different workers, sizes keep their bound and tokens rise; and when faults stop, the work gets done.
func TestSchedulingUnderFaults(t *testing.T) {
	copies, folds := 0, 0
	defer func() {
		if copies == 0 && !testing.Short() { // which draws a fifth of the cases
			t.Error("no speculative copy was ever granted")
		}
		if folds == 0 {
			t.Error("no step was ever made from pieces")
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		f := newFloor(t)
		for range rapid.IntRange(50, 400).Draw(t, "steps") {
			f.step()
			f.check()
		}
		f.settle()
		copies, folds = copies+f.copies, folds+f.folds
		f.view.EachJob(func(job *state.Job) bool {
			if job.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
				t.Fatalf("job %s ended as %v: %+v", job.ID, job.Stage, job.Failure)
			}
			return true
		})
	})
}
