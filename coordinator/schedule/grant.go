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
	// order of leaf; of a step, the roots in order of tree, or the parts of them that it folds.
	Pieces []state.Commit
	// Audit is what the task was made from, when it is made a second time; else nil.
	Audit *state.Audit
	// Speculative: another worker is at work on it and takes long.
	Speculative bool
}

// Lease grants up to want tasks to a worker: jobs by priority, those of the same in turn, and in a
// job maps before merges. What is left over goes to speculative copies.
func (b *Board) Lease(view state.State, workerID string, want int, now time.Duration) []Grant {
	b.Expire(now)
	b.forgetJobs(view)
	b.Roster.quarantineConvicted(view)
	if _, lied := view.Convicted.Get(workerID); lied {
		return nil
	}
	if b.Roster.shunned(workerID, now) {
		return nil
	}
	if alone, apart := b.leaseAlone(view, workerID, now); apart {
		return alone
	}
	grants := b.share(view, workerID, want, now)
	if free := want - len(grants); free > 0 {
		grants = append(grants, b.speculate(view, workerID, free, now)...)
	}
	return grants
}

func (b *Board) leaseJob(job *state.Job, workerID string, want int, now time.Duration) []Grant {
	if !b.Fit.mayWork(job, workerID) {
		return nil
	}
	return (&search{board: b, job: job, memory: b.Jobs.of(job), worker: workerID, want: want, now: now}).run()
}

// run grants what there is of the stage that the job is in, and audits around it. Most audits wait for a worker that
// would be idle: at the end of a round, and while another makes its step.
func (s *search) run() []Grant {
	if s.pressingAudits(); s.satisfied() {
		return s.grants
	}
	if s.work(); !s.satisfied() {
		s.audits(nil)
	}
	return s.grants
}

// work grants what is left to do.
func (s *search) work() {
	b, job := s.board, s.job
	switch {
	case job.Stage == pb.JobState_JOB_STATE_PLANNING:
		s.single(pb.TaskKind_TASK_KIND_PLAN)
	case job.Reporting() && job.Audits.Pending() > 0:
	case job.Reporting():
		s.single(pb.TaskKind_TASK_KIND_REPORT)
	case job.Rounds.Open.Complete() || job.Rounds.Open.Whole() && s.stepIsNext():
		s.single(pb.TaskKind_TASK_KIND_STEP)
	default:
		if s.memory.leaves.count > 0 {
			s.limit = s.leavesInMemory(
				s.memory.pace.leavesOfLease(s.memory.leaves.total(), s.memory.leaves.count, b.Roster.slots(s.now)))
			s.maps()
		}
		if !s.stepFolds() {
			s.merges()
		}
	}
}

// search looks for work in one job.
type search struct {
	board  *Board
	job    *state.Job
	memory *jobBoard
	worker string
	want   int
	now    time.Duration
	// limit is how many leaves a lease may cover; it falls with the leaves that are
	// neither committed nor leased.
	limit  int
	alone  bool // for tasks that must be alone, and for no others
	look   bool // and grants nothing in truth
	grants []Grant
}

func (s *search) satisfied() bool { return len(s.grants) >= s.want }

// noNode stands where a task has no node.
var noNode protocol.Node

// single grants the one task of a stage that has no tree.
func (s *search) single(kind pb.TaskKind) {
	t := s.task(kind, 0, protocol.Node{})
	if !s.available(t, false) {
		return
	}
	var pieces []state.Commit
	if kind == pb.TaskKind_TASK_KIND_STEP {
		pieces = s.job.Rounds.Open.All()
	}
	s.grant(t, pieces)
}

// maps grants the largest free nodes within the limit, in order of leaf, from the worker's own
// place on: round after round it maps the leaves whose blocks it keeps.
func (s *search) maps() {
	m := &s.memory.leaves
	place := s.board.Roster.place(s.worker, m.total(), s.now)
	s.mapsIn(place, m.total())
	s.mapsIn(0, place)
}

// mapsIn grants nodes that begin in [first, end).
func (s *search) mapsIn(first, end int) {
	m := &s.memory.leaves
	for at := m.free.next(first); at >= 0 && at < end && !s.satisfied(); at = m.free.next(at) {
		tree, leaf := m.locate(at)
		if c, committed := s.job.Rounds.Open.Covering(tree, protocol.Node{Index: leaf}); committed {
			m.committed(tree, c.Node) // the board had not heard of it
			continue
		}
		n := s.largest(tree, leaf)
		if t := s.task(pb.TaskKind_TASK_KIND_NODE, tree, n); s.available(t, false) {
			s.grant(t, nil)
		}
		_, at = m.span(tree, n)
	}
}

// largest is the largest free node within the limit that begins with a leaf.
func (s *search) largest(tree uint32, leaf int) protocol.Node {
	shape, m := s.job.Rounds.Open.Tree(tree), &s.memory.leaves
	room := m.free.run(m.starts[tree]+leaf, s.limit)
	s.job.Rounds.Open.Commits(tree, leaf, leaf+room, func(c state.Commit) bool {
		first, _ := shape.Range(c.Node)
		room = first - leaf
		return false
	})
	n := protocol.Node{Index: leaf}
	for {
		up, ok := shape.Parent(n)
		if first, end := shape.Range(up); !ok || first != leaf || end-leaf > room || s.memory.tooLarge(tree, up) {
			return n
		}
		n = up
	}
}

// merges grants the highest nodes whose leaves are all committed below them, where
// something has changed since they were last looked for.
func (s *search) merges() {
	stirred := s.memory.leaves.stirred
	for block := stirred.next(0); block >= 0 && !s.satisfied(); block = stirred.next(block + 1) {
		if s.mergesIn(block) {
			stirred.setRange(block, block+1, false)
		}
	}
}

// mergesIn looks through one block of leaves; false means that a merge there is left to grant.
func (s *search) mergesIn(block int) (settled bool) {
	m := &s.memory.leaves
	settled = true
	for at := block * blockLeaves; at < min((block+1)*blockLeaves, m.total()); {
		tree, leaf := m.locate(at)
		c, ok := s.commitFrom(tree, leaf)
		if !ok {
			at = m.starts[tree+1]
			continue
		}
		n, pieces := s.mergeable(c)
		if t := s.task(pb.TaskKind_TASK_KIND_NODE, tree, n); pieces != nil && !s.satisfied() && s.available(t, true) {
			s.grant(t, pieces)
		} else if pieces != nil {
			settled = false
		}
		_, at = m.span(tree, n)
	}
	return settled
}

// commitFrom is the commit of a leaf, or the first after it in the tree.
func (s *search) commitFrom(tree uint32, leaf int) (c state.Commit, found bool) {
	if c, found = s.job.Rounds.Open.Covering(tree, protocol.Node{Index: leaf}); found {
		return c, true
	}
	s.job.Rounds.Open.Commits(tree, leaf, int(s.job.Rounds.Open.Tree(tree)), func(next state.Commit) bool {
		c, found = next, true
		return false
	})
	return c, found
}

// mergeable is the highest node above a commit that can be folded from commits
// alone, with its pieces; without such a node there are no pieces.
func (s *search) mergeable(c state.Commit) (n protocol.Node, pieces []state.Commit) {
	shape := s.job.Rounds.Open.Tree(c.Tree)
	n = c.Node
	for up, ok := shape.Parent(n); ok; up, ok = shape.Parent(up) {
		first, end := shape.Range(up)
		parts, whole := s.covered(c.Tree, first, end)
		if !whole || s.memory.leasedWithin(c.Tree, first, end) {
			break
		}
		n, pieces = up, parts
	}
	if pieces != nil && s.memory.leasedAbove(c.Tree, n) {
		return n, nil
	}
	return n, pieces
}

// covered returns the committed nodes that make up [first, end), when there is no
// gap and they are not too many for one task.
func (s *search) covered(tree uint32, first, end int) ([]state.Commit, bool) {
	var pieces []state.Commit
	at := first
	s.job.Rounds.Open.Commits(tree, first, end, func(c state.Commit) bool {
		from, to := s.job.Rounds.Open.Tree(tree).Range(c.Node)
		if from != at || len(pieces) == s.board.cfg.MaxPieces {
			return false
		}
		pieces, at = append(pieces, c), to
		return true
	})
	return pieces, at == end
}

func (s *search) task(kind pb.TaskKind, tree uint32, n protocol.Node) Task {
	return Task{JobID: s.job.ID, Round: s.job.Rounds.Open.Number, Kind: kind, Tree: tree, Node: n,
		Changes: s.job.Counters.Remade.Changes}
}

// available reports whether a task is neither leased nor held back after a fault, and may be granted beside
// others, or alone, whichever is searched for.
func (s *search) available(t Task, merge bool) bool {
	_, leased := s.memory.holder(t)
	if s.alone && s.memory.rests(t, s.now) {
		return false
	}
	return !leased && s.memory.mustBeAlone(t, merge) == s.alone && !s.board.Jobs.mustWait(s.job, t, s.worker, s.now)
}

// grant leases a task.
func (s *search) grant(t Task, pieces []state.Commit) {
	if s.look {
		s.grants = append(s.grants, Grant{Task: t})
		return
	}
	if !s.board.Jobs.needed(s.job, t) {
		s.board.Jobs.Counts.CommittedLeased++ // counted where a person looks; never expected
	}
	l := s.lease(t, pieces)
	s.board.Jobs.put(s.memory, l)
	s.grants = append(s.grants, Grant{Task: t, Token: l.token, Pieces: pieces})
}

func (s *search) lease(t Task, pieces []state.Commit) *lease {
	s.board.Jobs.Counts.Granted++
	s.memory.calm = 0
	return &lease{
		task: t, worker: s.worker, token: s.board.nextToken(), deadline: s.now + s.board.cfg.LeaseTTL, granted: s.now,
		since: s.now,
		merge: pieces != nil, pieces: len(pieces), alone: s.alone,
	}
}

// forgetJobs drops the memory of jobs that have ended.
func (b *Board) forgetJobs(view state.State) {
	before := len(b.Jobs.list)
	b.Jobs.list = slices.DeleteFunc(b.Jobs.list, func(j *jobBoard) bool {
		job, ok := view.Job(j.id)
		if ok && !job.Ended() {
			return false
		}
		b.Jobs.abandon(j)
		if ok {
			b.Jobs.keepCourse(job, j.course)
		}
		return true
	})
	if len(b.Jobs.list) < before {
		b.Deaths.forgetMissing()
	}
}
