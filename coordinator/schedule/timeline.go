package schedule

import (
	"cmp"
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Bounds on what is remembered of a job's course. A job with more marks is remembered more coarsely.
const (
	maxMarks      = 2000
	maxLanes      = 512 // workers
	maxEvents     = 200
	maxForecasts  = 1000
	coarsestGrain = time.Hour
)

// Work is what a worker did in the time of a mark.
type Work = pb.TimelineWork

// Mark is the time a worker was at work on a task, or on several in a row.
type Mark struct {
	Worker      int // in Timeline.Workers
	Slot        int // of the worker's tasks at a time
	From, To    time.Duration
	Work        Work
	Round       uint32 // 0: of several
	Tasks       int
	Outcome     pb.TimelineOutcome
	Speculative bool
}

// Event is what happened besides.
type Event struct {
	At     time.Duration
	What   pb.TimelineEventKind
	Worker string
	Task   string
}

// Timeline is who did what when for a job, as this leader saw it.
type Timeline struct {
	Since      time.Duration // what was before, another leader saw; 0: nothing was
	Workers    []Worker
	Marks      []Mark
	Events     []Event
	Grain      time.Duration // tasks in a row with shorter pauses are one mark
	MarksLost  int
	EventsLost int
	Forecasts  []Forecast // of rounds, in their order
}

// Forecast is when a round would end, as forecast when a quarter of its leaves were committed.
type Forecast struct {
	Round        uint32
	At, P50, P90 time.Duration
}

// timeline is a Timeline that grows.
type timeline struct {
	Timeline
	busy   [][]bool // of each worker: which of its slots are at work
	blend  bool     // what is joined may differ in kind and round
	newest map[laneSlot]int
	lanes  map[string]int // by worker
}

type laneSlot struct{ worker, slot int }

func newTimeline(since time.Duration) *timeline {
	return &timeline{Timeline: Timeline{Since: since}, newest: make(map[laneSlot]int),
		lanes: make(map[string]int)}
}

// begin gives a lease its place on the timeline.
func (t *timeline) begin(l *lease, w Worker) {
	lane, shown := t.lanes[l.worker]
	if !shown && len(t.Workers) == maxLanes {
		l.lane = -1
		return // one worker too many: it is not shown
	}
	if !shown {
		lane = len(t.Workers)
		t.lanes[l.worker] = lane
		t.Workers, t.busy = append(t.Workers, w), append(t.busy, nil)
	}
	l.lane = lane
	slots := t.busy[l.lane]
	if l.slot = slices.Index(slots, false); l.slot < 0 {
		l.slot = len(slots)
		t.busy[l.lane] = append(slots, false)
	}
	t.busy[l.lane][l.slot] = true
}

// end puts a lease's mark on the timeline.
func (t *timeline) end(l *lease, now time.Duration, outcome pb.TimelineOutcome) {
	if l.lane < 0 || l.lane >= len(t.busy) || l.slot >= len(t.busy[l.lane]) {
		if l.lane < 0 {
			t.MarksLost++
		}
		return
	}
	t.busy[l.lane][l.slot] = false
	t.add(Mark{
		Worker: l.lane, Slot: l.slot, From: l.since, To: max(now, l.since), Work: workOf(l), Round: l.task.Round,
		Tasks:   1,
		Outcome: outcome, Speculative: l.speculative,
	})
	for len(t.Marks) > maxMarks {
		t.coarsen()
	}
}

func workOf(l *lease) Work {
	switch {
	case l.task.Kind == pb.TaskKind_TASK_KIND_PLAN:
		return pb.TimelineWork_TIMELINE_WORK_PLAN
	case l.task.Kind == pb.TaskKind_TASK_KIND_STEP:
		return pb.TimelineWork_TIMELINE_WORK_STEP
	case l.task.Kind == pb.TaskKind_TASK_KIND_REPORT:
		return pb.TimelineWork_TIMELINE_WORK_REPORT
	case l.merge:
		return pb.TimelineWork_TIMELINE_WORK_MERGE
	}
	return pb.TimelineWork_TIMELINE_WORK_MAP
}

// add joins a mark to the last of its slot where the two are of one sort and follow each other closely.
func (t *timeline) add(m Mark) {
	key := laneSlot{m.Worker, m.Slot}
	at, found := t.newest[key]
	if found && t.joins(t.Marks[at], m) {
		last := &t.Marks[at]
		last.To, last.Tasks = max(last.To, m.To), last.Tasks+m.Tasks
		if last.Round != m.Round {
			last.Round = 0
		}
		if last.Work != m.Work {
			last.Work = pb.TimelineWork_TIMELINE_WORK_SEVERAL
		}
		return
	}
	t.newest[key] = len(t.Marks)
	t.Marks = append(t.Marks, m)
}

func (t *timeline) joins(last, m Mark) bool {
	usual := func(m Mark) bool { return m.Outcome == pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED && !m.Speculative }
	alike := last.Work == m.Work && last.Round == m.Round || t.blend
	return t.Grain > 0 && usual(last) && usual(m) && alike && m.From-last.To < t.Grain
}

// coarsen joins marks over longer pauses, then also of other kinds, until a quarter is free; at last it
// drops the oldest.
func (t *timeline) coarsen() {
	if t.Grain < coarsestGrain {
		t.Grain = max(2*t.Grain, time.Millisecond)
	} else if !t.blend {
		t.blend = true
	} else {
		t.MarksLost += len(t.Marks) - maxMarks*3/4
		t.Marks = slices.Clone(t.Marks[len(t.Marks)-maxMarks*3/4:])
	}
	marks := t.Marks
	t.Marks, t.newest = nil, make(map[laneSlot]int)
	for _, m := range marks {
		t.add(m)
	}
	if len(t.Marks) > maxMarks*3/4 {
		t.coarsen()
	}
}

func (t *timeline) event(now time.Duration, what pb.TimelineEventKind, worker string, task Task) {
	t.tell(now, what, worker, task.String())
}

func (t *timeline) tell(now time.Duration, what pb.TimelineEventKind, worker, task string) {
	if len(t.Events) >= maxEvents {
		t.EventsLost++
		return
	}
	t.Events = append(t.Events, Event{At: now, What: what, Worker: worker, Task: task})
}

// Timeline returns what is remembered of a job's course; the caller may keep it.
func (jobs *Jobs) Timeline(job *state.Job) Timeline {
	course := jobs.courseOf(job.Number)
	if course == nil {
		return Timeline{}
	}
	t := course.Timeline
	t.Workers, t.Marks, t.Events = slices.Clone(t.Workers), slices.Clone(t.Marks), slices.Clone(t.Events)
	t.Forecasts = slices.Clone(t.Forecasts)
	slices.SortFunc(t.Marks, compareMarks)
	return t
}

// compareMarks is a total order: a slot is at work on one task at a time.
func compareMarks(x, y Mark) int {
	return cmp.Or(cmp.Compare(x.Worker, y.Worker), cmp.Compare(x.Slot, y.Slot), cmp.Compare(x.From, y.From),
		cmp.Compare(x.To, y.To))
}

// took is the end of a lease for the timeline and, where it was a speculative copy, for the counts.
func (jobs *Jobs) took(j *jobBoard, l *lease, now time.Duration, outcome pb.TimelineOutcome) {
	j.course.end(l, now, outcome)
	won := outcome == pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED
	jobs.copyEnded(j, l, won)
	if l.speculative && won {
		j.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_SPECULATIVE_COPY_WON, jobs.roster.nameOf(l.worker),
			l.task)
	}
}

// begun puts the start of a lease on its job's timeline.
func (jobs *Jobs) begun(j *jobBoard, l *lease) {
	w, known := jobs.roster.Worker(l.worker)
	if !known {
		w = Worker{ID: l.worker}
	}
	j.course.begin(l, w)
	if l.speculative {
		j.course.event(l.since, pb.TimelineEventKind_TIMELINE_EVENT_KIND_SPECULATIVE_COPY_LAUNCHED,
			jobs.roster.nameOf(l.worker), l.task)
	}
}

// tellLost notes the leases that were not renewed, and the workers that were not heard of.
func (jobs *Jobs) tellLost(j *jobBoard, void []*lease, now time.Duration) {
	var silent []string
	for _, l := range void {
		name := jobs.roster.nameOf(l.worker)
		w, known := jobs.roster.Worker(l.worker)
		if gone := !known || now-w.LastSeen >= jobs.cfg.LeaseTTL; gone && !slices.Contains(silent, l.worker) {
			silent = append(silent, l.worker)
			j.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_WORKER_LOST, name, l.task)
		}
		j.course.event(now, pb.TimelineEventKind_TIMELINE_EVENT_KIND_LEASE_EXPIRED, name, l.task)
	}
}
