package schedule

import (
	"cmp"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// SpeculativeCopies counts second leases of a node that took long: granted, committed first, and in vain.
type SpeculativeCopies struct{ Launched, Won, Wasted uint64 }

func (c *SpeculativeCopies) add(d SpeculativeCopies) {
	c.Launched, c.Won, c.Wasted = c.Launched+d.Launched, c.Won+d.Won, c.Wasted+d.Wasted
}

// minStraggle is how long a task must be at work before it may be a straggler: less than that is
// what a commit and a call take.
const minStraggle = leaseTime

// A walk over thousands of leases takes a tenth of a millisecond, and every idle worker wants one: after a long walk
// there is none for a time that grows with it.
const (
	longWalk  = 256 // leases
	walkPause = 5 * time.Microsecond
)

// stragglers are the leases that take long, of all jobs.
type stragglers struct {
	roster *Roster
	jobs   *Jobs
	due    time.Duration // when the next speculative copy may be due, as the last search found; 0 means no such time
}

// speculate grants an idle worker second leases of nodes that take long. It looks at every job, even after it has
// granted enough, for NextWake has to know the first straggler of all.
func (b *Board) speculate(view state.State, workerID string, want int, now time.Duration) []Grant {
	b.stragglers.due = 0
	var grants []Grant
	view.EachActive(func(job *state.Job) bool {
		if !b.Jobs.Holding(job, now) && nearlyDone(job) && b.Fit.mayWork(job, workerID) {
			s := &search{board: b, job: job, memory: b.Jobs.of(job), worker: workerID, want: want - len(grants),
				now: now}
			s.stragglers()
			grants = append(grants, s.grants...)
		}
		return true
	})
	return grants
}

// nearlyDone reports whether a round is so far that it may soon wait for its slowest nodes only:
// three quarters of its leaves are committed.
func nearlyDone(job *state.Job) bool {
	return job.Stage == pb.JobState_JOB_STATE_RUNNING && !job.Reporting() && !job.Rounds.Open.Complete() &&
		4*job.Rounds.Open.Covered >= 3*job.Rounds.Open.Leaves()
}

// stragglers grants speculative copies of the nodes that have been at work for more than one and a half times
// the median, in order of leaf.
func (s *search) stragglers() {
	if quiet := max(s.memory.calm, s.memory.walked); s.now < quiet {
		s.board.stragglers.wakeAt(quiet)
		return
	}
	var late []*lease
	next := time.Duration(0)
	leaf, piece := s.memory.pace.maps.median(), s.memory.pace.folds.median()
	s.memory.leases.Root().Walk(func(_ []byte, l *lease) bool {
		due := s.due(l, leaf, piece)
		switch {
		case due == 0: // not to be copied
		case due <= s.now:
			late = append(late, l)
		default:
			next = sooner(next, due)
		}
		return false
	})
	if n := s.memory.leases.Len(); n >= longWalk {
		s.memory.walked = s.now + time.Duration(n)*walkPause
	}
	s.board.stragglers.wakeAt(next)
	if len(late) == 0 {
		s.memory.calm = next // 0: looked for again, which costs a walk over no or few leases
		return
	}
	room := s.board.stragglers.room(s.now)
	for _, l := range late {
		if !s.satisfied() && room > 0 && s.launch(l) {
			room--
		}
	}
}

// copyShare is the share of the slots that speculative copies may take, in percent, where that is more than one worker
// has: of one that is slow, all tasks may be copied.
const copyShare = 5

// room is how many more speculative copies there may be.
func (s *stragglers) room(now time.Duration) int {
	most, running := 1, 0
	for w := range s.roster.live(now) {
		most = max(most, w.Slots)
	}
	for _, j := range s.jobs.list {
		j.each(func(l *lease) {
			if l.speculative {
				running++
			}
		})
	}
	return max(most, s.roster.slots(now)*copyShare/100) - running
}

// due is when the only lease of a task becomes a straggler; 0 means never.
func (s *search) due(l *lease, leaf, piece time.Duration) time.Duration {
	if l.task.Kind != pb.TaskKind_TASK_KIND_NODE || l.second != nil {
		return 0
	}
	usual := time.Duration(l.pieces) * piece
	if !l.merge {
		first, end := s.memory.leaves.span(l.task.Tree, l.task.Node)
		usual = time.Duration(end-first) * leaf
	}
	if usual < 0 { // nothing is known
		return 0
	}
	return l.since + max(usual+usual/2, minStraggle) + 1 // more than, not as long as
}

// launch grants a speculative copy, a second lease beside l, if there may be one.
func (s *search) launch(l *lease) bool {
	if l.worker == s.worker || l.alone || s.memory.mustBeAlone(l.task, l.merge) ||
		!s.board.Jobs.needed(s.job, l.task) ||
		s.board.Jobs.mustWait(s.job, l.task, s.worker, s.now) {
		return false
	}
	var pieces []state.Commit
	if l.merge {
		first, end := s.job.Rounds.Open.Tree(l.task.Tree).Range(l.task.Node)
		whole := false
		if pieces, whole = s.covered(l.task.Tree, first, end); !whole {
			return false
		}
	}
	l.second = s.lease(l.task, pieces)
	l.second.speculative = true
	s.board.Jobs.begun(s.memory, l.second)
	s.board.Jobs.earliest = min(s.board.Jobs.earliest, l.second.deadline)
	s.board.Jobs.count(s.memory, SpeculativeCopies{Launched: 1})
	s.grants = append(s.grants, Grant{Task: l.task, Token: l.second.token, Pieces: pieces, Speculative: true})
	return true
}

// wakeAt makes NextWake consider a time; 0 is no time.
func (s *stragglers) wakeAt(at time.Duration) {
	s.due = sooner(s.due, at)
}

// sooner is the earlier of two times; 0 is no time.
func sooner(a, b time.Duration) time.Duration { return min(cmp.Or(a, b), cmp.Or(b, a)) }

// winner is the lease under which a task was committed, where that is known: the reporter's, or
// of two the other where the reporter came too late.
func (j *jobBoard) winner(t Task, workerID string, first bool) *lease {
	l, held := j.holder(t)
	if !held {
		return nil
	}
	own, reported := l.of(workerID)
	switch {
	case first && reported:
		return own
	case first || !reported || l.second == nil:
		return nil
	case own == l:
		return l.second
	}
	return l
}

// saw takes in how long a lease took whose task is committed, and what its worker says it spent; 0 is not told.
func (j *jobBoard) saw(l *lease, spent, now time.Duration) {
	if l.granted < 0 {
		return
	}
	j.calm = 0
	if l.merge {
		j.pace.folds.add((now - l.granted) / time.Duration(l.pieces))
		return
	}
	first, end := j.leaves.span(l.task.Tree, l.task.Node)
	j.pace.saw(end-first, now-l.granted, spent)
}

// copyEnded counts the end of a lease that was a speculative copy.
func (jobs *Jobs) copyEnded(j *jobBoard, l *lease, won bool) {
	switch {
	case !l.speculative:
	case won:
		jobs.count(j, SpeculativeCopies{Won: 1})
	default:
		jobs.count(j, SpeculativeCopies{Wasted: 1})
	}
}

func (jobs *Jobs) count(j *jobBoard, d SpeculativeCopies) {
	jobs.Counts.SpeculativeCopies.add(d)
	j.untold.add(d)
}

// abandon ends the leases of a round, or job, that is over. Who held the plan or the step made it, as far as
// can be told: the board hears of the next round by the state, often before it hears who ended the last.
func (jobs *Jobs) abandon(j *jobBoard) {
	j.each(func(l *lease) {
		outcome := pb.TimelineOutcome_TIMELINE_OUTCOME_IN_VAIN
		if l.task.Kind != pb.TaskKind_TASK_KIND_NODE {
			outcome = pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
		}
		if l.task.Kind == pb.TaskKind_TASK_KIND_STEP && l.granted >= 0 {
			j.pace.steps.add(jobs.latest - l.granted)
		}
		jobs.took(j, l, jobs.latest, outcome)
	})
}

// Untold is what the log has not been told of a job's speculative copies.
func (jobs *Jobs) Untold(job *state.Job) SpeculativeCopies {
	if at, found := jobs.find(job.Number); found {
		return jobs.list[at].untold
	}
	return SpeculativeCopies{}
}

// Tell returns what the log has not been told of a job's speculative copies, for it to be told.
func (jobs *Jobs) Tell(job *state.Job) (news SpeculativeCopies) {
	if at, found := jobs.find(job.Number); found {
		news, jobs.list[at].untold = jobs.list[at].untold, SpeculativeCopies{}
	}
	return news
}
