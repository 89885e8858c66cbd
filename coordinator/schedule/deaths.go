package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A record may end the process that reads it: memory beyond the machine's, a fault in native code. Its task would be
// leased again and again, and end a worker each time. Workers also end for other reasons, and the tasks they had are
// innocent. So a task whose workers fell silent comes in halves, then alone: by itself on a worker that has
// nothing else. Only workers that ended during that count against it, and none of them once a worker
// has ended that was not alone with a task, or had none: somebody ends workers, whatever they do. For that to show,
// some time passes before the task comes again.
const (
	aloneFrom = 2  // workers lost before a task must be alone
	maxLosses = 32 // kept of one task, the newest
)

// loss is a worker that fell silent during a task.
type loss struct {
	worker, name string
	alone        bool // it had nothing else
	merge        bool // the lease was a fold
}

// suspect is a task during which workers fell silent.
type suspect struct {
	key    string
	task   Task
	losses []loss // oldest first
	// notBefore is when it may be leased alone again.
	notBefore time.Duration
}

// find looks a task's suspicion up.
func (j *jobBoard) find(t Task) (at int, found bool) {
	return slices.BinarySearchFunc(j.suspects, string(taskKey(t)), func(s *suspect, key string) int {
		return strings.Compare(s.key, key)
	})
}

// Deaths are the workers that fell silent during a task, and what that says of the task.
type Deaths struct {
	cfg     Config
	roster  *Roster
	jobs    *Jobs
	missing map[string]bool // workers whose leases ran out, and that were not heard of since
	loner   string          // the worker that is kept apart for tasks that must be alone; or empty
	verdict time.Duration   // when a task may be found to end its workers; 0 means no such time
}

// note notes a lease that was not renewed: its worker is gone, as far as this leader can tell.
func (d *Deaths) note(j *jobBoard, l *lease, now time.Duration) {
	if !l.alone {
		d.pardon()
	}
	at, found := j.find(l.task)
	if !found {
		j.suspects = slices.Insert(j.suspects, at, &suspect{key: string(taskKey(l.task)), task: l.task})
	}
	s, name := j.suspects[at], l.worker
	if w, known := d.roster.Worker(l.worker); known && w.Name != "" {
		name = w.Name
	}
	s.losses = append(s.losses, loss{l.worker, name, l.alone, l.merge})
	s.losses = s.losses[max(0, len(s.losses)-maxLosses):]
	d.missing[l.worker] = true
	if l.alone {
		s.notBefore = now + d.cfg.LeaseTTL
	}
}

// idle notes a worker that fell silent while it had no task. One that was granted a task in answer to
// a call that had waited is silent before its lease ends: what that lease was for is known then.
func (d *Deaths) idle(w *Worker, now time.Duration) {
	if w.gone || now-w.LastSeen < d.cfg.LeaseTTL || d.jobs.Leased("", w.ID) > 0 {
		return
	}
	if w.gone = true; !d.missing[w.ID] {
		d.pardon()
	}
}

// pardon takes back what counts against any task; they stay alone.
func (d *Deaths) pardon() {
	for _, j := range d.jobs.list {
		for _, s := range j.suspects {
			for i := range s.losses {
				s.losses[i].alone = false
			}
		}
	}
}

// heard takes a worker's losses back: it was cut off or paused, and has not ended.
func (d *Deaths) heard(workerID string) {
	if !d.missing[workerID] {
		return
	}
	delete(d.missing, workerID)
	for _, j := range d.jobs.list {
		for _, s := range j.suspects {
			s.losses = slices.DeleteFunc(s.losses, func(l loss) bool { return l.worker == workerID })
		}
		j.suspects = slices.DeleteFunc(j.suspects, func(s *suspect) bool { return len(s.losses) == 0 })
	}
}

// forgetMissing forgets silent workers that are no longer known and whose losses count against no task: most ids
// never come back, and the board may be as old as its leader.
func (d *Deaths) forgetMissing() {
	maps.DeleteFunc(d.missing, func(id string, _ bool) bool {
		_, known := d.roster.find(id)
		return !known && !d.lostWith(id)
	})
}

// lostWith reports whether a loss of this worker counts against a task.
func (d *Deaths) lostWith(workerID string) bool {
	of := func(l loss) bool { return l.worker == workerID }
	return slices.ContainsFunc(d.jobs.list, func(j *jobBoard) bool {
		return slices.ContainsFunc(j.suspects, func(s *suspect) bool { return slices.ContainsFunc(s.losses, of) })
	})
}

// clear forgets the suspicion of tasks that are done now that t is.
func (j *jobBoard) clear(job *state.Job, t Task) {
	if len(j.suspects) == 0 {
		return
	}
	j.suspects = slices.DeleteFunc(j.suspects, func(s *suspect) bool {
		if !related(s.task, t) {
			return false
		}
		return s.task.Node.Level <= t.Node.Level || t.Kind != pb.TaskKind_TASK_KIND_NODE || covers(job, s.task) &&
			!s.folds()
	})
}

// covers reports whether all leaves of a node are below committed ones.
func covers(job *state.Job, t Task) bool {
	first, end := job.Rounds.Open.Tree(t.Tree).Range(t.Node)
	left := end - first
	job.Rounds.Open.Commits(t.Tree, first, end, func(c state.Commit) bool {
		from, to := job.Rounds.Open.Tree(c.Tree).Range(c.Node)
		left -= to - from
		return true
	})
	return left <= 0
}

func (s *suspect) folds() bool {
	return slices.ContainsFunc(s.losses, func(l loss) bool { return l.merge })
}

// count is how many of a suspect's losses concern a task of that sort, and how many of them it was alone in.
func (s *suspect) count(merge bool) (all, alone int) {
	for _, l := range s.losses {
		if s.task.Kind != pb.TaskKind_TASK_KIND_NODE || l.merge == merge {
			if all++; l.alone {
				alone++
			}
		}
	}
	return all, alone
}

// deaths counts the workers lost during a task; what was lost with a node counts for the nodes below it,
// for it comes in halves.
func (j *jobBoard) deaths(t Task, merge bool) (all, alone int) {
	for ok := len(j.suspects) > 0; ok; {
		if at, found := j.find(t); found {
			n, by := j.suspects[at].count(merge)
			all, alone = all+n, alone+by
		}
		if t.Kind != pb.TaskKind_TASK_KIND_NODE || merge {
			break
		}
		t.Node, ok = j.leaves.tree(t.Tree).Parent(t.Node)
	}
	return all, alone
}

func (j *jobBoard) mustBeAlone(t Task, merge bool) bool {
	all, _ := j.deaths(t, merge)
	return all >= aloneFrom
}

// rests reports whether a task that must be alone is not to be leased yet.
func (j *jobBoard) rests(t Task, now time.Duration) bool {
	for _, s := range j.suspects {
		if now < s.notBefore && related(s.task, t) {
			return true
		}
	}
	return false
}

// tooLarge reports whether a lease of leaves must be smaller: each loss halves the node it was lost with, and
// no lease covers more than a suspect. There are no leaves to lease near a fold that was lost: all are committed.
func (j *jobBoard) tooLarge(tree uint32, n protocol.Node) bool {
	t := Task{Kind: pb.TaskKind_TASK_KIND_NODE, Tree: tree, Node: n}
	for _, s := range j.suspects {
		all, _ := s.count(false)
		if n.Level > max(0, s.task.Node.Level-all) && related(s.task, t) {
			return true
		}
	}
	return false
}

// leaseAlone grants a task that must be alone to a worker that has nothing, and keeps one worker at a time apart
// for that: it is granted nothing else before. It reports whether this is the one.
func (b *Board) leaseAlone(view state.State, workerID string, now time.Duration) (grants []Grant, apart bool) {
	if w, known := b.Roster.Worker(b.Deaths.loner); !known || now-w.LastSeen >= b.cfg.LeaseTTL ||
		b.Roster.shunned(b.Deaths.loner, now) {
		b.Deaths.loner = ""
	}
	if b.Deaths.loner != "" && b.Deaths.loner != workerID || b.Deaths.loner == "" && !b.Deaths.suspicious() {
		return nil, false
	}
	busy := b.Jobs.Leased("", workerID) > 0
	if busy && b.Deaths.loner == workerID {
		return nil, true // with the last of the others, or alone already
	}
	view.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_QUEUED && !b.Jobs.Holding(job, now) && b.Fit.mayWork(job, workerID) {
			s := &search{board: b, job: job, memory: b.Jobs.of(job), worker: workerID, want: 1, now: now, alone: true,
				look: busy}
			grants = s.run()
		}
		return len(grants) == 0
	})
	if b.Deaths.loner = workerID; len(grants) == 0 {
		b.Deaths.loner = ""
	}
	if busy { // it has only looked
		grants = nil
	}
	return grants, b.Deaths.loner != ""
}

// suspicious reports whether there may be a task that must be alone.
func (d *Deaths) suspicious() bool {
	for _, j := range d.jobs.list {
		total := 0
		for _, s := range j.suspects {
			if total += len(s.losses); total >= aloneFrom {
				return true
			}
		}
	}
	return false
}

// Condemned returns the commands that fail the jobs with a task that ends its workers: MaxDeaths workers were alone
// with it, and have not been heard of for a lease's time. A map is one leaf by then.
func (d *Deaths) Condemned(view state.State, now time.Duration) (commands []*pb.Command) {
	d.verdict = 0
	for _, j := range d.jobs.list {
		job, ok := view.Job(j.id)
		if !ok || job.Ended() || job.Rounds.Open.Number != j.round || d.cfg.MaxDeaths == 0 {
			continue
		}
		for _, s := range j.suspects {
			if deaths := j.convicted(s, d.cfg.MaxDeaths); deaths > 0 && d.silent(s, now) {
				commands = append(commands, failJob(job, s.failure(deaths)))
				break
			}
		}
	}
	return commands
}

// convicted is how many workers a task has ended, when they are enough.
func (j *jobBoard) convicted(s *suspect, enough int) int {
	for _, merge := range []bool{false, true} {
		_, own := s.count(merge)
		_, deaths := j.deaths(s.task, merge)
		leaf := merge || s.task.Kind != pb.TaskKind_TASK_KIND_NODE || s.task.Node.Level == 0
		if leaf && 2*own >= enough && deaths >= enough {
			return deaths
		}
	}
	return 0
}

// silent reports whether nothing was heard of the workers that were lost; else it is asked again in time.
func (d *Deaths) silent(s *suspect, now time.Duration) bool {
	due := now
	for _, l := range s.losses {
		if w, known := d.roster.Worker(l.worker); known {
			due = max(due, w.LastSeen+d.cfg.LeaseTTL)
		}
	}
	if due <= now {
		return true
	}
	d.verdict = sooner(d.verdict, due)
	return false
}

func (s *suspect) failure(deaths int) *pb.Failure {
	what := "this task"
	if s.task.Kind == pb.TaskKind_TASK_KIND_NODE && s.task.Node.Level == 0 {
		what = fmt.Sprintf("leaf %d", s.task.Node.Index)
	}
	last := s.losses[len(s.losses)-1].name
	return &pb.Failure{
		Code: string(protocol.CodeWorkerDied), Class: pb.FailureClass_FAILURE_CLASS_TASK, Task: s.task.String(),
		Worker: last,
		Message: fmt.Sprintf("%d workers in turn ended without a word while they had %s and nothing else, the last of them %s: it takes more memory than they have, or holds a record on which the program crashes; look at how those processes ended",
			deaths, what, last),
	}
}

// Count is how many workers fell silent during tasks of the job's round that are still to do.
func (d *Deaths) Count(job *state.Job) (workers int) {
	at, found := d.jobs.find(job.Number)
	if !found || d.jobs.list[at].round != job.Rounds.Open.Number {
		return 0
	}
	var names []string
	for _, s := range d.jobs.list[at].suspects {
		for _, l := range s.losses {
			if !slices.Contains(names, l.worker) {
				names = append(names, l.worker)
			}
		}
	}
	return len(names)
}
