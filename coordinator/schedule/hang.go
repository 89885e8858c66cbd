package schedule

import (
	"fmt"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A lease is renewed as long as its worker lives, also when the task does not get on: a call that never returns, a loop
// without an end. So workers tell how far they are, and a task that stands still for long is leased to another: a node,
// a plan, a step or a report.
const (
	hangLeast   = time.Minute      // of standing still, at least
	hangTimes   = 5                // as often as a lease of that size takes in all
	hangUnknown = 30 * time.Minute // while too few have been seen to know
	hangSeen    = 8
)

// hung reports whether a task has stood still for too long, and notes how far it is; 0 is not told. Each time it
// happened to the task before doubles what is too long: that may be how long it takes.
func (j *jobBoard) hung(l *lease, progress uint64, now time.Duration) bool {
	if progress == 0 {
		return false
	}
	if progress != l.progress {
		l.progress, l.moved = progress, now
		return false
	}
	limit := hangUnknown
	if usual := j.usual(l); usual >= 0 {
		limit = max(hangLeast, hangTimes*usual)
	}
	hangs := l.hangs
	if l.audit == nil {
		j.eachFault(l.task, func(f fault) { hangs += f.hangs })
	}
	return now-l.moved > limit<<min(hangs, 10)
}

// usual is how long such a lease takes in all; -1 while too few have been seen. There is one plan and one report of a
// job, and steps are compared with those of earlier rounds.
func (j *jobBoard) usual(l *lease) time.Duration {
	seen, parts := &j.pace.steps, time.Duration(1)
	switch {
	case l.task.Kind == pb.TaskKind_TASK_KIND_NODE && l.merge:
		seen, parts = &j.pace.folds, time.Duration(l.pieces)
	case l.task.Kind == pb.TaskKind_TASK_KIND_NODE:
		first, end := j.spanOf(l)
		seen, parts = &j.pace.maps, time.Duration(end-first)
	case l.task.Kind != pb.TaskKind_TASK_KIND_STEP:
		return -1
	}
	if seen.seen < hangSeen {
		return -1
	}
	return parts * seen.median()
}

// spanOf is the leaves of a lease's node: of an audit in the tree of its round, which may be over.
func (j *jobBoard) spanOf(l *lease) (first, end int) {
	if l.audit != nil {
		return protocol.Tree(l.audit.TreeLeaves).Range(l.task.Node)
	}
	return j.leaves.span(l.task.Tree, l.task.Node)
}

// takeAway ends the lease of a task that stands still. It is no fault of the task's own: a store may be the cause.
func (jobs *Jobs) takeAway(j *jobBoard, l *lease, now time.Duration) {
	j.dropOne(l)
	jobs.took(j, l, now, pb.TimelineOutcome_TIMELINE_OUTCOME_EXPIRED)
	name := jobs.roster.nameOf(l.worker)
	j.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_LEASE_EXPIRED, name, l.task)
	still := (now - l.moved).Round(time.Second)
	j.blame(l.task, l.worker, &pb.Failure{Message: fmt.Sprintf("%s stood still for %v on worker %s, and was taken away",
		l.task, still, name)}, 0, now, jobs.cfg.RetryDelay)
	key := string(taskKey(l.task))
	f := j.faults[key]
	f.hangs++
	j.faults[key] = f
}
