package schedule

import (
	"math"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// fault is what went wrong with a task before.
type fault struct {
	task      Task
	attempts  int // task faults; infrastructure faults are not counted
	delays    int
	hangs     int           // leases taken away because it stood still
	barred    int           // reports of the store that are to be confirmed elsewhere
	at        time.Duration // of the last one
	notBefore time.Duration
	worker    string   // who had it last
	blamed    []string // workers with task faults, at most two
	last      string   // what went wrong, for people
}

// Trouble is what went wrong last in the job's round, and how often; tries is 0 when nothing did.
func (jobs *Jobs) Trouble(job *state.Job) (tries int, last string) {
	found, known := jobs.find(job.Number) // asked by readers, who may see an older state: it remembers nothing
	if !known || jobs.list[found].round != job.Rounds.Open.Number {
		return 0, ""
	}
	at := time.Duration(-1)
	for _, f := range jobs.list[found].faults { //lint:ordered a sum, and the latest by time then text
		tries += f.delays
		if f.at > at || f.at == at && f.last > last {
			at, last = f.at, f.last
		}
	}
	return tries, last
}

// Done takes note that a task is committed: its leases are over, and so are those below it.
// The report was workerID's, and first tells whether it was the one that committed the task.
func (b *Board) Done(job *state.Job, t Task, workerID string, first bool, now time.Duration) {
	b.DoneAfter(job, t, workerID, first, 0, now)
}

// DoneAfter is Done where the worker says what it spent on the task; 0 is not told.
func (b *Board) DoneAfter(job *state.Job, t Task, workerID string, first bool, spent, now time.Duration) {
	b.Jobs.latest = max(b.Jobs.latest, now)
	memory := b.Jobs.of(job)
	if t.Round != memory.round || t.Changes != memory.changes {
		return
	}
	memory.denied = nil
	memory.clear(job, t)
	b.Jobs.settleFaults(memory, job, t, workerID, now)
	if t.Kind != pb.TaskKind_TASK_KIND_NODE {
		if l, held := memory.holder(t); held {
			b.Jobs.took(memory, l, now, pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED)
		}
		memory.drop(t)
		return
	}
	if !memory.leaves.valid(t.Tree, t.Node) {
		return
	}
	winner := memory.winner(t, workerID, first)
	if winner != nil {
		memory.saw(winner, spentBy(winner, workerID, spent), now)
	}
	for _, below := range memory.below(t) {
		l, _ := memory.holder(below)
		memory.drop(below)
		for ; l != nil; l = l.second {
			b.Jobs.took(memory, l, now, outcomeOf(l, winner, t, workerID))
		}
	}
	memory.leaves.committed(t.Tree, t.Node)
	b.foretell(memory, job, now)
}

// spentBy is what the winner spent: workerID told what it spent itself.
func spentBy(winner *lease, workerID string, spent time.Duration) time.Duration {
	if winner.worker != workerID {
		return 0
	}
	return spent
}

// outcomeOf is how a lease ended when task t was committed by workerID; winner is nil where that is not known.
func outcomeOf(l, winner *lease, t Task, workerID string) pb.TimelineOutcome {
	if l == winner || winner == nil && l.task == t && l.worker == workerID && !l.speculative {
		return pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
	}
	return pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN
}

// below lists the leases on a node and the nodes below it.
func (j *jobBoard) below(t Task) []Task {
	var found []Task
	_, end := j.leaves.tree(t.Tree).Range(t.Node)
	it := j.leases.Root().Iterator()
	it.SeekLowerBound(taskKey(Task{Kind: t.Kind, Tree: t.Tree,
		Node: protocol.Node{Index: t.Node.Index << t.Node.Level}}))
	for _, l, ok := it.Next(); ok && l.task.Kind == t.Kind && l.task.Tree == t.Tree; _, l, ok = it.Next() {
		if l.task.Node.Index<<l.task.Node.Level >= end {
			break
		}
		if l.task.Node.Level <= t.Node.Level { // not one above it that begins with the same leaf
			found = append(found, l.task)
		}
	}
	return found
}

// Fault takes a failed task into account. It returns the command that fails the
// job when the fault would repeat or its attempts are used up; otherwise the task
// is leased again later. A report of another than the lease's holder is a repeated
// or a late one and counts for nothing, save that bad input stays bad input.
func (b *Board) Fault(view state.State, workerID string, h Held, failure *pb.Failure, now time.Duration) *pb.Command {
	job, ok := view.Job(h.Task.JobID)
	if ok && !job.Ended() {
		if cmd, mine := b.Audits.failed(job, h, workerID, failure, now); mine {
			return cmd
		}
	}
	if !ok || !b.Jobs.needed(job, h.Task) {
		return nil
	}
	memory := b.Jobs.of(job)
	l, held := memory.heldBy(h.Task, workerID)
	if held = held && l.token == h.Token; held {
		memory.dropOne(l)
		b.Jobs.took(memory, l, now, pb.TimelineOutcome_TIMELINE_OUTCOME_FAILED)
		memory.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED, b.Roster.nameOf(workerID),
			h.Task)
	}
	if cmd, taken := b.Store.fault(job, h.Task, workerID, failure, held, now); taken {
		return cmd
	}
	drained := failure.GetCode() == string(protocol.CodeDrained)
	switch class := failure.GetClass(); {
	case class == pb.FailureClass_FAILURE_CLASS_INPUT:
		return failJob(job, failure)
	case !held || class == pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE && drained:
		return nil
	case class == pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE:
		memory.blame(h.Task, workerID, failure, 0, now, b.cfg.RetryDelay)
		return nil
	}
	memory.blame(h.Task, workerID, failure, 1, now, b.cfg.RetryDelay)
	if !b.Jobs.hopeless(job, h.Task, workerID, now) {
		return nil
	}
	if cmd := b.Jobs.unreadable(job, h.Task, workerID, failure, now); cmd != nil {
		return cmd
	}
	return failJob(job, failure)
}

// hopeless reports whether a task has used up its attempts, the last of them on workerID. They count
// when two workers had one, or there is no second. A second worker that never finishes an attempt delays
// that verdict, up to a limit.
func (jobs *Jobs) hopeless(job *state.Job, t Task, workerID string, now time.Duration) bool {
	attempts, elsewhere := 0, false
	jobs.of(job).eachFault(t, func(f fault) {
		attempts += f.attempts
		elsewhere = elsewhere || slices.ContainsFunc(f.blamed, func(w string) bool { return w != workerID })
	})
	return attempts >= jobs.cfg.MaxAttempts && (elsewhere || !jobs.roster.hasOther(job, workerID, now)) ||
		attempts >= 2*jobs.cfg.MaxAttempts
}

func failJob(job *state.Job, failure *pb.Failure) *pb.Command {
	return &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: job.ID, Failure: failure}}}
}

// maxTroubleBytes bounds what is kept of a failure's message.
const maxTroubleBytes = 300

// blame notes a fault; each waits twice as long as the last.
func (j *jobBoard) blame(t Task, workerID string, failure *pb.Failure, attempts int, now, delay time.Duration) {
	key := string(taskKey(t))
	f := j.faults[key]
	f.task, f.worker, f.at, f.notBefore = t, workerID, now, now+delay<<min(f.delays, 6)
	f.last = state.Clip(failure.GetMessage(), maxTroubleBytes)
	f.attempts += attempts
	if attempts > 0 && len(f.blamed) < 2 && !slices.Contains(f.blamed, workerID) {
		f.blamed = append(slices.Clip(f.blamed), workerID)
	}
	f.delays++
	j.faults[key] = f
}

// eachFault visits the faults of a task and of the nodes above it: leases grow
// smaller, and what spoilt a node is in one of its parts.
func (j *jobBoard) eachFault(t Task, visit func(fault)) {
	if len(j.faults) == 0 {
		return
	}
	for ok := true; ok; {
		if f, faulty := j.faults[string(taskKey(t))]; faulty {
			visit(f)
		}
		if t.Kind != pb.TaskKind_TASK_KIND_NODE {
			return
		}
		t.Node, ok = j.leaves.tree(t.Tree).Parent(t.Node)
	}
}

// mustWait holds a task back after a fault, and from the worker it failed on last
// while there is another.
func (jobs *Jobs) mustWait(job *state.Job, t Task, workerID string, now time.Duration) bool {
	var last fault
	wait := false
	jobs.of(job).eachFault(t, func(f fault) {
		wait = wait || now < f.notBefore
		if (f.attempts > 0 || f.hangs > 0 || f.barred > 0) && (last.worker == "" || f.at > last.at) {
			last = f
		}
	})
	return wait || last.worker == workerID && jobs.roster.hasOther(job, workerID, now)
}

// NextWake is the earliest time at which a waiting task may be leased, or ok is
// false when time alone changes nothing. It may be early, when leases were renewed.
func (b *Board) NextWake(now time.Duration) (wake time.Duration, ok bool) {
	consider := func(at time.Duration) {
		if at > now && (!ok || at < wake) {
			wake, ok = at, true
		}
	}
	consider(b.Jobs.holdUntil)
	consider(b.stragglers.due)
	consider(b.Deaths.verdict)
	consider(b.Fit.patience)
	if w, known := b.Roster.Worker(b.Deaths.loner); known {
		consider(w.LastSeen + b.cfg.LeaseTTL)
	}
	if b.Jobs.earliest < math.MaxInt64 {
		consider(b.Jobs.earliest)
	}
	for _, w := range b.Roster.list {
		if w.quarantined < math.MaxInt64 {
			consider(w.quarantined)
		}
	}
	barred := b.Audits.forlorn
	for _, j := range b.Jobs.list {
		for _, s := range j.suspects {
			consider(s.notBefore)
		}
		for _, work := range j.audits { //lint:ordered a minimum does not depend on order
			consider(work.notBefore)
		}
		for _, f := range j.faults { //lint:ordered a minimum does not depend on order
			consider(f.notBefore)
			barred = barred || f.attempts > 0 || f.hangs > 0 || f.barred > 0
		}
	}
	if barred { // a task that failed on the last worker left is for it again
		for _, w := range b.Roster.list {
			consider(w.LastSeen + b.cfg.LeaseTTL)
		}
	}
	return wake, ok
}
