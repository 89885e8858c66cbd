package schedule

import (
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Grant is permission to work on a task.
type Grant struct {
	Task  Task
	Token Token
	// Pieces are the committed nodes the task folds: of a node, those below it, in
	// order of leaf; of a step, the roots in order of tree.
	Pieces []state.Commit
}

// Lease grants up to want tasks to a worker: jobs in order of acceptance, and in a
// job maps before merges.
func (b *Board) Lease(view state.State, workerID string, want int, now time.Duration) []Grant {
	b.Expire(now)
	b.forgetJobs(view)
	var grants []Grant
	view.EachActive(func(job *state.Job) bool {
		if !b.Holding(job, now) {
			grants = append(grants, b.leaseJob(job, workerID, want-len(grants), now)...)
		}
		return len(grants) < want
	})
	return grants
}

func (b *Board) leaseJob(job *state.Job, workerID string, want int, now time.Duration) []Grant {
	s := &search{board: b, job: job, memory: b.jobBoard(job), worker: workerID, want: want, now: now}
	switch {
	case want <= 0:
	case job.Stage == pb.JobState_JOB_STATE_PLANNING:
		s.grant(pb.TaskKind_TASK_KIND_PLAN, 0, protocol.Node{}, nil)
	case job.Stage != pb.JobState_JOB_STATE_RUNNING:
	case job.Reporting():
		s.grant(pb.TaskKind_TASK_KIND_REPORT, 0, protocol.Node{}, nil)
	case job.Round.Complete():
		s.grant(pb.TaskKind_TASK_KIND_STEP, 0, protocol.Node{}, s.roots())
	default:
		s.nodes()
	}
	return s.grants
}

// search looks for work in one job.
type search struct {
	board  *Board
	job    *state.Job
	memory *jobBoard
	worker string
	want   int
	now    time.Duration
	limit  int // leaves of one lease at most
	grants []Grant
}

func (s *search) roots() []state.Commit {
	var roots []state.Commit
	s.job.Round.EachCommit(func(c state.Commit) bool {
		roots = append(roots, c)
		return true
	})
	return roots
}

// nodes grants maps of free nodes, then merges of committed ones.
func (s *search) nodes() {
	s.limit = max(1, s.freeLeaves()/(4*s.board.slots(s.now)))
	for _, visit := range []func(uint32, protocol.Node){s.maps, s.merges} {
		for t := range uint32(len(s.job.Round.Trees)) {
			if len(s.grants) >= s.want {
				return
			}
			visit(t, s.job.Round.Tree(t).Root())
		}
	}
}

// freeLeaves counts the leaves neither committed nor leased; it falls towards the
// end of a round, and the size of leases with it.
func (s *search) freeLeaves() int {
	free := int(s.job.Round.Leaves() - s.job.Round.Covered)
	s.memory.each(func(l *lease) {
		if l.task.Kind == pb.TaskKind_TASK_KIND_NODE {
			first, end := s.job.Round.Tree(l.task.Tree).Range(l.task.Node)
			free -= end - first
		}
	})
	return max(free, 0)
}

// maps descends to the largest free nodes within the limit.
func (s *search) maps(tree uint32, n protocol.Node) {
	if len(s.grants) >= s.want || s.busy(tree, n) {
		return
	}
	first, end := s.job.Round.Tree(tree).Range(n)
	if end-first <= s.limit && s.untouched(tree, first, end) {
		s.grant(pb.TaskKind_TASK_KIND_NODE, tree, n, nil)
		return
	}
	if left, right, ok := s.job.Round.Tree(tree).Children(n); ok {
		s.maps(tree, left)
		s.maps(tree, right)
	}
}

// merges descends to the highest nodes whose leaves are all committed below them.
func (s *search) merges(tree uint32, n protocol.Node) {
	if len(s.grants) >= s.want || s.busy(tree, n) {
		return
	}
	first, end := s.job.Round.Tree(tree).Range(n)
	if pieces, ok := s.covered(tree, first, end); ok && s.memory.leasesIn(tree, first, end) == 0 {
		s.grant(pb.TaskKind_TASK_KIND_NODE, tree, n, pieces)
		return
	}
	if left, right, ok := s.job.Round.Tree(tree).Children(n); ok {
		s.merges(tree, left)
		s.merges(tree, right)
	}
}

// busy reports whether the very node is committed or leased, so nothing below it is wanted.
func (s *search) busy(tree uint32, n protocol.Node) bool {
	if _, leased := s.memory.holder(Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: n}); leased {
		return true
	}
	first, _ := s.job.Round.Tree(tree).Range(n)
	committed := false
	s.job.Round.Commits(tree, first, first+1, func(c state.Commit) bool {
		committed = c.Node == n
		return false
	})
	return committed
}

func (s *search) untouched(tree uint32, first, end int) bool {
	touched := false
	s.job.Round.Commits(tree, first, end, func(state.Commit) bool {
		touched = true
		return false
	})
	return !touched && s.memory.leasesIn(tree, first, end) == 0
}

// covered returns the committed nodes that make up [first, end), when there is no gap.
func (s *search) covered(tree uint32, first, end int) ([]state.Commit, bool) {
	var pieces []state.Commit
	at := first
	s.job.Round.Commits(tree, first, end, func(c state.Commit) bool {
		from, to := s.job.Round.Tree(tree).Range(c.Node)
		if from != at || len(pieces) == s.board.cfg.MaxPieces {
			return false
		}
		pieces, at = append(pieces, c), to
		return true
	})
	return pieces, at == end && len(pieces) > 1
}

// grant leases a task unless it must wait after a fault.
func (s *search) grant(kind pb.TaskKind, tree uint32, n protocol.Node, pieces []state.Commit) {
	t := Task{JobID: s.job.ID, Round: s.job.Round.Number, Kind: kind, Tree: tree, Node: n}
	if _, leased := s.memory.holder(t); leased || s.mustWait(t) {
		return
	}
	if !s.board.needed(s.job, t) {
		s.board.Counts.CommittedLeased++ // counted where a person looks; never expected
	}
	l := &lease{task: t, worker: s.worker, token: s.board.nextToken(), deadline: s.now + s.board.cfg.LeaseTTL}
	s.memory.put(l)
	s.board.Counts.Granted++
	s.grants = append(s.grants, Grant{Task: t, Token: l.token, Pieces: pieces})
}

// mustWait holds a task back after a fault, and from the worker it failed on
// while there is another.
func (s *search) mustWait(t Task) bool {
	f, faulty := s.memory.faults[string(taskKey(t))]
	if !faulty {
		return false
	}
	return s.now < f.notBefore || f.attempts > 0 && f.worker == s.worker && len(s.board.Workers(s.now)) > 1
}

// forgetJobs drops the memory of jobs that have ended.
func (b *Board) forgetJobs(view state.State) {
	b.jobs = slices.DeleteFunc(b.jobs, func(j *jobBoard) bool {
		job, ok := view.Job(j.id)
		return !ok || job.Ended()
	})
}
