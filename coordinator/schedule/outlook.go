package schedule

import (
	"slices"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/forecast"
)

// When a lease gets a speculative copy, see nearlyDone, due and room.
const (
	copyAfter = 1.5
	copyFrom  = 0.75
)

// recent holds the last leases of leaves that ended.
type recent struct {
	list [windowSize]forecast.Lease
	seen int
}

func (r *recent) add(l forecast.Lease) {
	r.list[r.seen%windowSize] = l
	r.seen++
}

func (r *recent) all() []forecast.Lease { return slices.Clone(r.list[:min(r.seen, windowSize)]) }

// seconds are the last times seen, in ascending order.
func (w *window) seconds() []float64 {
	var all []float64
	for _, t := range w.times[:min(w.seen, windowSize)] {
		all = append(all, t.Seconds())
	}
	slices.Sort(all) // total order: equal times are the same
	return all
}

// Outlook returns what is known of the open round's end, and false where that is nothing: no lease of its phase has
// ended, or nobody is there to work. It is a function of the times that the board was told, and changes nothing.
func (b *Board) Outlook(job *state.Job, now time.Duration) (forecast.Open, bool) {
	at, found := b.Jobs.find(job.Number) // asked by readers, who may see an older state: it remembers nothing
	if !found || b.Jobs.list[at].round != job.Rounds.Open.Number {
		return forecast.Open{}, false
	}
	return b.outlook(b.Jobs.list[at], job, now)
}

func (b *Board) outlook(memory *jobBoard, job *state.Job, now time.Duration) (forecast.Open, bool) {
	o := forecast.Open{Ended: memory.pace.ended.all(), Total: memory.leaves.total(), Tails: memory.pace.tails.seconds()}
	if len(o.Tails) == 0 {
		o.Tails = b.Jobs.tails.seconds()
	}
	workers := len(b.Roster.Live(now))
	if len(o.Ended) == 0 || workers == 0 {
		return o, false
	}
	if job.Rounds.Open.Covered == job.Rounds.Open.Leaves() {
		o.Mapped, o.Since = true, max(0, now-memory.mapped).Seconds()
		return o, true
	}
	o.Running, o.Free = memory.running(now), int(job.Rounds.Open.Leaves()-job.Rounds.Open.Covered)
	for _, r := range o.Running {
		o.Free -= r.Leaves
	}
	o.Free = max(0, o.Free)
	o.Slots = b.slotsOf(memory, job, workers, now)
	if workers > 1 {
		most := 1
		for w := range b.Roster.live(now) {
			most = max(most, w.Slots)
		}
		o.Copies = forecast.Copies{After: copyAfter, Least: minStraggle.Seconds(), From: copyFrom,
			Most: max(most, b.Roster.slots(now)*copyShare/100)}
	}
	return o, true
}

// slotsOf is how many slots work on a job: those that do, and those that are idle, up to its workers' share.
func (b *Board) slotsOf(memory *jobBoard, job *state.Job, workers int, now time.Duration) int {
	total := b.Roster.slots(now)
	own, all := 0, b.Jobs.Leased("", "")
	memory.each(func(*lease) { own++ })
	slots := min(total, own+max(0, total-all))
	if job.MaxWorkers > 0 && job.MaxWorkers < workers {
		slots = min(slots, (total*job.MaxWorkers+workers-1)/workers)
	}
	return max(1, slots)
}

// running lists the leases of leaves, in the order in which they began.
func (j *jobBoard) running(now time.Duration) []forecast.Running {
	var firsts []*lease
	j.leases.Root().Walk(func(_ []byte, l *lease) bool {
		if l.task.Kind == pb.TaskKind_TASK_KIND_NODE && !l.merge {
			firsts = append(firsts, l)
		}
		return false
	})
	slices.SortStableFunc(firsts, func(a, b *lease) int { return int(a.since - b.since) })
	list := make([]forecast.Running, len(firsts))
	for i, l := range firsts {
		first, end := j.leaves.span(l.task.Tree, l.task.Node)
		list[i].Leaves, list[i].Seconds = end-first, max(0, now-l.since).Seconds()
		if l.second != nil {
			list[i].Copy, list[i].Copied = true, max(0, now-l.second.since).Seconds()
		}
	}
	return list
}

// foretell notes when the last leaf of a round was committed and, once in a round that takes more than a moment, when
// it would end, as forecast when a quarter of the leaves were committed.
func (b *Board) foretell(memory *jobBoard, job *state.Job, now time.Duration) {
	open := &job.Rounds.Open
	if open.Number != memory.round {
		return
	}
	if open.Covered == open.Leaves() {
		if memory.mapped == 0 {
			memory.mapped = max(now, 1)
		}
		return
	}
	if memory.foretold || 4*open.Covered < open.Leaves() {
		return
	}
	memory.foretold = true
	if now-memory.began < leaseTime { // over in a moment
		return
	}
	o, known := b.outlook(memory, job, now)
	if !known || len(memory.course.Forecasts) >= maxForecasts {
		return
	}
	course, round := memory.course, memory.round
	b.Foresee(o, func(ends []float64) { course.foretold(round, now, ends) })
}

// foreseeNow forecasts at once.
func foreseeNow(o forecast.Open, take func(ends []float64)) { take(o.Ends()) }

// foretold notes the forecast of a round. It may come after that of a later round.
func (t *timeline) foretold(round uint32, at time.Duration, ends []float64) {
	in := func(p float64) time.Duration {
		seconds := min(forecast.Quantile(ends, p), maxForecast)
		return at + time.Duration(seconds*float64(time.Second)) //lint:checked bounded
	}
	place := len(t.Forecasts)
	for place > 0 && t.Forecasts[place-1].Round > round {
		place--
	}
	t.Forecasts = slices.Insert(t.Forecasts, place, Forecast{Round: round, At: at, P50: in(0.5), P90: in(0.9)})
}

// maxForecast bounds a forecast, in seconds: a hundred years are as good as never.
const maxForecast = 3e9
