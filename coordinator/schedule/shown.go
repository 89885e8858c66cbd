package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// LeafCounts are the leaves of a round by state, in ranges of equally many. Those that are left wait.
type LeafCounts struct {
	Committed, Running []uint32
	Failed             []uint32 // that wait to be tried again
	Merges             int      // at work, over committed leaves
}

// CountLeaves counts the leaves of the open round of a job that runs. Range i of n begins with leaf i*leaves/n. What it
// takes grows with the leases and the ranges, and with a 64th of the leaves. The caller shows it the newest state.
func (jobs *Jobs) CountLeaves(job *state.Job, ranges int) LeafCounts {
	if job.Stage != pb.JobState_JOB_STATE_RUNNING || job.Reporting() || job.Rounds.Open.Leaves() == 0 {
		return LeafCounts{}
	}
	memory := jobs.of(job)
	r := ranged{total: memory.leaves.total(), n: min(ranges, memory.leaves.total())}
	counts := LeafCounts{make([]uint32, r.n), make([]uint32, r.n), make([]uint32, r.n), 0}
	memory.leases.Root().Walk(func(_ []byte, l *lease) bool { // a second lease is of the same leaves
		switch {
		case l.task.Kind != pb.TaskKind_TASK_KIND_NODE:
		case l.merge || l.granted < 0 && merges(job, l.task):
			counts.Merges++
		default:
			first, end := memory.leaves.span(l.task.Tree, l.task.Node)
			r.each(first, end, func(i, from, to int) { counts.Running[i] += uint32(to - from) })
		}
		return false
	})
	r.each(0, r.total, func(i, from, to int) {
		counts.Committed[i] = uint32(max(0, to-from-memory.leaves.free.count(from, to)-int(counts.Running[i])))
	})
	for _, span := range memory.faulty() {
		r.each(span[0], span[1], func(i, from, to int) {
			counts.Failed[i] += uint32(memory.leaves.free.count(from, to))
		})
	}
	return counts
}

// merges reports whether a node's leaves are committed. Of a lease of another leader that is not remembered.
func merges(job *state.Job, t Task) bool {
	_, committed := job.Rounds.Open.Covering(t.Tree, protocol.Node{Index: t.Node.Index << t.Node.Level})
	return committed
}

// ranged are leaves in n ranges.
type ranged struct{ total, n int }

// each visits the parts of the leaves [first, end) by range.
func (r ranged) each(first, end int, visit func(i, from, to int)) {
	for from := first; from < end; {
		i := ((from+1)*r.n - 1) / r.total
		to := min(end, (i+1)*r.total/r.n)
		visit(i, from, to)
		from = to
	}
}

// faulty are the leaves below nodes with faults, in order and none of them twice.
func (j *jobBoard) faulty() (spans [][2]int) {
	for _, f := range j.faults { //lint:ordered sorted below
		if f.task.Kind == pb.TaskKind_TASK_KIND_NODE && f.task.Round == j.round &&
			j.leaves.valid(f.task.Tree, f.task.Node) {
			first, end := j.leaves.span(f.task.Tree, f.task.Node)
			spans = append(spans, [2]int{first, end})
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { // total order: equal spans are the same
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	apart := spans[:0]
	for _, s := range spans {
		if last := len(apart) - 1; last >= 0 && s[0] < apart[last][1] {
			apart[last][1] = max(apart[last][1], s[1])
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// Course returns what is remembered of a job's course, and the tasks at work, which last until now. The caller shows it
// the newest state, and may keep what it gets.
func (b *Board) Course(view state.State, job *state.Job, now time.Duration) (t Timeline, running []Mark) {
	b.forgetJobs(view)
	t = b.Jobs.Timeline(job)
	at, found := b.Jobs.find(job.Number)
	if !found {
		return t, nil
	}
	add := func(l *lease) {
		if l.lane >= 0 && l.lane < len(t.Workers) {
			running = append(running, Mark{Worker: l.lane, Slot: l.slot, From: l.since, To: max(now, l.since),
				Work: workOf(l), Round: l.task.Round, Tasks: 1, Speculative: l.speculative})
		}
	}
	b.Jobs.list[at].each(add)
	b.Jobs.list[at].eachAudit(func(_ Task, work *auditWork) { add(work.lease) })
	slices.SortFunc(running, compareMarks)
	return t, running
}

// maxPast is how many jobs that failed or were cancelled are remembered.
const maxPast = 16

// pastCourse is that of a job that ended without a report.
type pastCourse struct {
	number uint64
	course *timeline
}

// keepCourse remembers the course of a job that ended without a report: nothing else tells of it.
func (jobs *Jobs) keepCourse(job *state.Job, course *timeline) {
	if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED {
		return
	}
	if len(jobs.past) == maxPast {
		jobs.past = slices.Delete(jobs.past, 0, 1)
	}
	jobs.past = append(jobs.past, pastCourse{job.Number, course})
}

// courseOf is the course of a job, which may have ended; nil where nothing is remembered.
func (jobs *Jobs) courseOf(number uint64) *timeline {
	if at, found := jobs.find(number); found {
		return jobs.list[at].course
	}
	for _, p := range jobs.past {
		if p.number == number {
			return p.course
		}
	}
	return nil
}

// mostNamed is how many jobs a reason names.
const mostNamed = 3

// named lists the first of some jobs after a colon, and how many it leaves out.
func named(jobs []*state.Job) string {
	text, sep := "", ": "
	for _, job := range jobs[:min(len(jobs), mostNamed)] {
		text, sep = text+sep+job.ID, ", "
	}
	if more := len(jobs) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Ahead lists, after a colon, the jobs of a higher priority that have tasks at work: they are served first.
func (b *Board) Ahead(view state.State, job *state.Job) string {
	var ahead []*state.Job
	for _, j := range b.Jobs.list {
		if other, ok := view.Job(j.id); ok && other.Priority > job.Priority && j.leases.Len() > 0 {
			ahead = append(ahead, other)
		}
	}
	inTurn(ahead)
	return named(ahead)
}
