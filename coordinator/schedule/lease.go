package schedule

import (
	"encoding/binary"
	"fmt"
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
	Task  Task
	Token Token
}

type lease struct {
	task     Task
	worker   string
	token    Token
	deadline time.Duration
}

// fault is what went wrong with a task before.
type fault struct {
	attempts  int // task faults; infrastructure faults are not counted
	delays    int
	notBefore time.Duration
	worker    string // who had it last
}

// jobBoard is the leader's memory of one round of one job.
type jobBoard struct {
	id     string
	number uint64
	round  uint32
	leases *iradix.Tree[*lease]
	faults map[string]fault
}

// jobBoard returns the memory of the job's current round, fresh when the round is new.
func (b *Board) jobBoard(job *state.Job) *jobBoard {
	for _, j := range b.jobs {
		if j.id == job.ID {
			if j.round != job.Round.Number {
				j.round, j.leases, j.faults = job.Round.Number, iradix.New[*lease](), make(map[string]fault)
			}
			return j
		}
	}
	j := &jobBoard{id: job.ID, number: job.Number, round: job.Round.Number, leases: iradix.New[*lease](), faults: make(map[string]fault)}
	b.jobs = append(b.jobs, j)
	return j
}

// taskKey orders a round's tasks by kind, tree, first leaf and level.
func taskKey(t Task) []byte {
	key := []byte{byte(t.Kind)}
	key = binary.BigEndian.AppendUint32(key, t.Tree)
	key = binary.BigEndian.AppendUint32(key, uint32(t.Node.Index<<t.Node.Level))
	return append(key, byte(t.Node.Level))
}

func (j *jobBoard) put(l *lease) { j.leases, _, _ = j.leases.Insert(taskKey(l.task), l) }

func (j *jobBoard) drop(t Task) { j.leases, _, _ = j.leases.Delete(taskKey(t)) }

func (j *jobBoard) each(visit func(*lease)) {
	j.leases.Root().Walk(func(_ []byte, l *lease) bool {
		visit(l)
		return false
	})
}

// holder returns the live lease of exactly this task.
func (j *jobBoard) holder(t Task) (*lease, bool) { return j.leases.Get(taskKey(t)) }

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

// leasesIn counts the leases of nodes within the leaves [first, end) of a tree.
func (j *jobBoard) leasesIn(tree uint32, first, end int) int {
	count := 0
	it := j.leases.Root().Iterator()
	it.SeekLowerBound(taskKey(Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: protocol.Node{Index: first}}))
	for _, l, ok := it.Next(); ok; _, l, ok = it.Next() {
		if l.task.Kind != pb.TaskKind_TASK_KIND_NODE || l.task.Tree != tree || l.task.Node.Index<<l.task.Node.Level >= end {
			break
		}
		count++
	}
	return count
}

// Heartbeat renews the worker's leases and returns the tasks it has lost: expired,
// decided otherwise, or of a round or job that is over.
func (b *Board) Heartbeat(view state.State, workerID string, held []Held, now time.Duration) []Task {
	b.Known(workerID, now)
	b.Expire(now)
	var lost []Task
	for _, h := range held {
		job, ok := view.Job(h.Task.JobID)
		if !ok || !b.needed(job, h.Task) {
			lost = append(lost, h.Task)
			continue
		}
		l, ok := b.jobBoard(job).holder(h.Task)
		if !ok || l.worker != workerID {
			lost = append(lost, h.Task)
			continue
		}
		l.deadline = now + b.cfg.LeaseTTL
	}
	return lost
}

// needed reports whether the job still waits for this task.
func (b *Board) needed(job *state.Job, t Task) bool {
	if job.Ended() {
		return false
	}
	switch t.Kind {
	case pb.TaskKind_TASK_KIND_PLAN:
		return job.Stage == pb.JobState_JOB_STATE_PLANNING
	case pb.TaskKind_TASK_KIND_REPORT:
		return job.Reporting()
	}
	if t.Round != job.Round.Number || job.Stage != pb.JobState_JOB_STATE_RUNNING || job.Reporting() {
		return false
	}
	if t.Kind == pb.TaskKind_TASK_KIND_STEP {
		return true
	}
	if t.Kind != pb.TaskKind_TASK_KIND_NODE || int(t.Tree) >= len(job.Round.Trees) || !job.Round.Tree(t.Tree).Valid(t.Node) {
		return false
	}
	_, committed := job.Round.Covering(t.Tree, t.Node)
	return !committed
}

// Expire voids the leases that were not renewed in time and forgets jobs and
// workers that are gone. It returns how many leases it voided.
func (b *Board) Expire(now time.Duration) int {
	voided := 0
	for _, j := range b.jobs {
		var void []Task
		j.each(func(l *lease) {
			if l.deadline <= now {
				void = append(void, l.task)
			}
		})
		for _, t := range void {
			j.drop(t)
		}
		voided += len(void)
	}
	b.Counts.Expired += uint64(voided)
	b.forgetWorkers(now)
	return voided
}

func (b *Board) forgetWorkers(now time.Duration) {
	kept := b.workers[:0]
	for _, w := range b.workers {
		if now-w.LastSeen < 10*b.cfg.LeaseTTL {
			kept = append(kept, w)
		}
	}
	clear(b.workers[len(kept):])
	b.workers = kept
}
