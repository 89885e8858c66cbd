package schedule

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Task names a task; Tree and Node matter to nodes only.
type Task struct {
	JobID string
	Round uint32
	Kind  pb.TaskKind
	Tree  uint32
	Node  protocol.Node
	// Changes are those of the job when the task was granted: with another number it is another task.
	Changes uint64
	// Again: its worker makes it once more, with its other kernel set, since another worker has another result.
	Again bool
}

// ID is the task as it crosses the wire.
func (t Task) ID() *pb.TaskID {
	return &pb.TaskID{
		JobId: t.JobID, Round: t.Round, Kind: t.Kind, Tree: t.Tree, Level: uint32(t.Node.Level),
		Index:   uint32(t.Node.Index),
		Changes: t.Changes, Again: t.Again,
	}
}

// String names the task for people.
func (t Task) String() string {
	switch t.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		return "plan"
	case pb.TaskKind_TASK_KIND_STEP:
		return fmt.Sprintf("round %d, step", t.Round)
	case pb.TaskKind_TASK_KIND_REPORT:
		return "report"
	}
	return fmt.Sprintf("round %d, tree %d, node %d/%d", t.Round, t.Tree, t.Node.Level, t.Node.Index)
}

// Held is a task a worker says it holds.
type Held struct {
	Task     Task
	Token    Token
	Progress uint64 // grows as the task gets on; 0 is not told, or not begun
}

type lease struct {
	task        Task
	worker      string
	token       Token
	deadline    time.Duration
	granted     time.Duration // when; -1 where another leader granted it
	since       time.Duration // when this leader granted it or heard of it
	merge       bool          // every leaf of the node was committed
	pieces      int           // that a merge folds
	speculative bool          // granted beside another worker's lease of the same task
	progress    uint64        // as its worker told last
	moved       time.Duration // when that changed
	alone       bool          // its worker has nothing else
	second      *lease        // of the same task, by another worker
	lane        int           // where the job's timeline shows it; -1 nowhere
	slot        int
	audit       *state.Audit // nil for a task that is not audited; its tree may be of an earlier round
	hangs       int          // how often the audit stood still before
}

// of returns the worker's lease of the task, this one or the second.
func (l *lease) of(workerID string) (*lease, bool) {
	for ; l != nil; l = l.second {
		if l.worker == workerID {
			return l, true
		}
	}
	return nil, false
}

// jobBoard is the leader's memory of one round of one job.
type jobBoard struct {
	id     string
	number uint64
	round  uint32
	// changes are those that the round saw: what was taken back is to do again.
	changes uint64
	leases  *iradix.Tree[*lease]
	faults  map[string]fault
	lost    map[state.ObjectID]*missing // reported, and not yet made again
	denied  *refusal                    // nil while the cluster's own store takes what it is given
	// suspects are tasks during which workers fell silent, by key.
	suspects []*suspect
	misfit   time.Duration // when the job is given up that fits no worker; 0 means it fits, or is not known not to
	leaves   leafMap
	pace     pace
	calm     time.Duration     // no lease is a straggler before, as things stand
	walked   time.Duration     // before this nobody walks over the leases again to find one
	untold   SpeculativeCopies // since the log was told last
	course   *timeline         // of all rounds
	audits   map[Task]*auditWork
	told     int                 // of the job's convictions
	patient  state.PendingAudits // none of these presses
	mapped   time.Duration       // when the last leaf was committed, 0 before
	began    time.Duration       // when the board heard of the round
	foretold bool                // the round's end is forecast on the timeline
}

func newJobBoard(job *state.Job) *jobBoard {
	return &jobBoard{
		id: job.ID, number: job.Number, round: job.Rounds.Open.Number, changes: job.Counters.Remade.Changes,
		leases: iradix.New[*lease](), faults: make(map[string]fault), lost: make(map[state.ObjectID]*missing),
		audits: make(map[Task]*auditWork), leaves: newLeafMap(job.Rounds.Open),
		pace: pace{phase: job.Rounds.Open.Phase},
	}
}

// taskKey orders a round's tasks by kind, tree, first leaf and level.
func taskKey(t Task) []byte {
	key := []byte{byte(t.Kind)}
	key = binary.BigEndian.AppendUint32(key, t.Tree)
	key = binary.BigEndian.AppendUint32(key, uint32(t.Node.Index<<t.Node.Level))
	return append(key, byte(t.Node.Level))
}

// put records a lease.
func (j *jobBoard) put(l *lease) {
	j.leases, _, _ = j.leases.Insert(taskKey(l.task), l)
	if l.task.Kind == pb.TaskKind_TASK_KIND_NODE {
		j.leaves.leased(l.task.Tree, l.task.Node)
	}
}

// drop forgets a lease whose task is still to do.
func (j *jobBoard) drop(t Task) {
	rest, l, found := j.leases.Delete(taskKey(t))
	j.leases = rest
	if found && t.Kind == pb.TaskKind_TASK_KIND_NODE {
		j.leaves.dropped(t.Tree, t.Node, l.merge)
	}
}

// dropOne forgets one worker's lease of a task; a second lease of it stays.
func (j *jobBoard) dropOne(l *lease) {
	j.calm = 0
	first, _ := j.holder(l.task)
	switch {
	case first != l:
		first.second = nil
	case l.second != nil:
		j.leases, _, _ = j.leases.Insert(taskKey(l.task), l.second)
	default:
		j.drop(l.task)
	}
}

// each visits every lease, second ones too.
func (j *jobBoard) each(visit func(*lease)) {
	j.leases.Root().Walk(func(_ []byte, l *lease) bool {
		for ; l != nil; l = l.second {
			visit(l)
		}
		return false
	})
}

// holder returns the live lease of exactly this task; there may be a second beside it.
func (j *jobBoard) holder(t Task) (*lease, bool) { return j.leases.Get(taskKey(t)) }

// heldBy returns a worker's live lease of exactly this task.
func (j *jobBoard) heldBy(t Task, workerID string) (*lease, bool) {
	first, _ := j.holder(t)
	return first.of(workerID)
}

// free reports whether no lease is on the task, below it or above it.
func (j *jobBoard) free(t Task) bool {
	clash := false
	j.each(func(l *lease) { clash = clash || related(l.task, t) })
	return !clash
}

// related reports whether one task is the other, or its ancestor in the same tree.
func related(a, b Task) bool {
	if a.Kind != b.Kind || a.Tree != b.Tree {
		return false
	}
	if a.Node.Level < b.Node.Level {
		a, b = b, a
	}
	return b.Node.Index>>(a.Node.Level-b.Node.Level) == a.Node.Index
}

// leasedWithin reports whether a node within the leaves [first, end) of a tree is
// leased, or one above them that begins with the same leaf.
func (j *jobBoard) leasedWithin(tree uint32, first, end int) bool {
	it := j.leases.Root().Iterator()
	it.SeekLowerBound(taskKey(Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: protocol.Node{Index: first}}))
	_, l, ok := it.Next()
	return ok && l.task.Kind == pb.TaskKind_TASK_KIND_NODE && l.task.Tree == tree &&
		l.task.Node.Index<<l.task.Node.Level < end
}

// leasedAbove reports whether an ancestor of the node is leased.
func (j *jobBoard) leasedAbove(tree uint32, n protocol.Node) bool {
	shape := j.leaves.tree(tree)
	for n, ok := shape.Parent(n); ok; n, ok = shape.Parent(n) {
		if _, leased := j.holder(Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: n}); leased {
			return true
		}
	}
	return false
}

// Heartbeat renews the worker's leases and returns the tasks it has lost: expired,
// decided otherwise, or of a round or job that is over.
func (b *Board) Heartbeat(view state.State, workerID string, held []Held, now time.Duration) []Task {
	b.Known(workerID, now)
	b.Expire(now)
	var lost []Task
	for _, h := range held {
		job, ok := view.Job(h.Task.JobID)
		if ok && !job.Ended() && b.Audits.renew(job, h, workerID, now) {
			continue
		}
		if !ok || !b.Jobs.needed(job, h.Task) {
			lost = append(lost, h.Task)
			continue
		}
		memory := b.Jobs.of(job)
		l, ok := memory.heldBy(h.Task, workerID)
		if ok && memory.hung(l, h.Progress, now) {
			b.Jobs.takeAway(memory, l, now)
			ok = false
		}
		if !ok {
			lost = append(lost, h.Task)
			continue
		}
		l.deadline = now + b.cfg.LeaseTTL
	}
	return lost
}

// Expire voids the leases that were not renewed in time and forgets jobs and
// workers that are gone. It returns how many leases it voided.
func (b *Board) Expire(now time.Duration) int {
	b.Jobs.latest = max(b.Jobs.latest, now)
	voided := b.expireLeases(now)
	b.forgetWorkers(now)
	return voided
}

func (b *Board) expireLeases(now time.Duration) int {
	if now < b.Jobs.earliest {
		return 0
	}
	voided := 0
	b.Jobs.earliest = math.MaxInt64
	for _, j := range b.Jobs.list {
		var void []*lease
		j.each(func(l *lease) {
			if l.deadline <= now {
				void = append(void, l)
			} else {
				b.Jobs.earliest = min(b.Jobs.earliest, l.deadline)
			}
		})
		for _, l := range void {
			j.dropOne(l)
			b.Jobs.took(j, l, now, pb.TimelineOutcome_TIMELINE_OUTCOME_EXPIRED)
			b.Deaths.note(j, l, now)
		}
		j.eachAudit(func(t Task, work *auditWork) {
			if work.lease.deadline <= now {
				void = append(void, work.lease)
				b.Audits.end(j, t, pb.TimelineOutcome_TIMELINE_OUTCOME_EXPIRED, now)
				work.expired++
				work.notBefore = now + b.cfg.RetryDelay<<min(work.expired, maxAuditPause)
			} else {
				b.Jobs.earliest = min(b.Jobs.earliest, work.lease.deadline)
			}
		})
		b.Jobs.tellLost(j, void, now)
		voided += len(void)
	}
	b.Jobs.Counts.Expired += uint64(voided)
	return voided
}

func (b *Board) forgetWorkers(now time.Duration) {
	r := &b.Roster
	if now < r.look && len(r.list) == r.looked {
		return
	}
	r.look = math.MaxInt64
	kept := r.list[:0]
	for _, w := range r.list {
		b.Deaths.idle(w, now)
		if now-w.LastSeen < 10*b.cfg.LeaseTTL {
			kept = append(kept, w)
		}
		due := w.LastSeen + b.cfg.LeaseTTL
		if w.gone {
			due = w.LastSeen + 10*b.cfg.LeaseTTL
		}
		r.look = min(r.look, due)
	}
	clear(r.list[len(kept):])
	r.looked = len(kept)
	if before := len(r.list); len(kept) < before {
		r.list = kept
		r.changed()
		b.Deaths.forgetMissing()
	}
}
