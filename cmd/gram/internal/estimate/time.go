package estimate

import (
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/forecast"
)

// When the coordinator grants a speculative copy: see package schedule.
const (
	copyAfter = 1.5  // times the median
	copyLeast = 0.2  // seconds
	copyFrom  = 0.75 // of the leaves
	copyShare = 5    // percent of the slots, or those of a worker where that is more
)

// Time is how long the job may take, from the task times of one that ran.
type Time struct {
	From        string  `json:"from"` // the job that ran
	FromSeconds float64 `json:"from_seconds"`
	FromWorkers int     `json:"from_workers"`
	FromSlots   int     `json:"from_slots"`                     // of all workers together
	Guessed     bool    `json:"from_slots_estimated,omitempty"` // from how much was at work at a time

	Reports []Report `json:"reports"` // of all jobs that ran, the first of which is From

	Workers        int `json:"workers"`
	SlotsPerWorker int `json:"slots_per_worker"`
	Slots          int `json:"slots"` // of all workers together

	Copies        *Quantiles `json:"with_copies,omitempty"` // nil where nobody could make one
	WithoutCopies Quantiles  `json:"without_copies"`
	Repetitions   int        `json:"repetitions"`

	AsRecorded float64     `json:"seconds_as_recorded"` // of those: planning, merges, steps and waiting
	Rounds     []RoundTime `json:"rounds"`
	Stalls     Stalls      `json:"stalls"`

	AtLeast   int `json:"times_at_least"` // task times that are lower bounds: a copy was first
	LeftOut   int `json:"times_left_out"` // short tasks that the timeline does not tell apart
	MarksLost int `json:"marks_lost"`     // that the timeline of the report lacks
	Scaled    int `json:"shards_then"`    // shards of the job that ran
	Shards    int `json:"shards_now"`

	plain []forecast.Round // without copies
}

// Report is a job that the forecast is made from.
type Report struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
	// Compared reports that the spec of the job is known; Differs has its fields of params, split and evaluation that
	// differ, with those of the spec of the plan on the right.
	Compared bool           `json:"compared"`
	Differs  []origin.Field `json:"differs,omitempty"`
	Unknown  string         `json:"unknown,omitempty"` // why it is not
}

// Quantiles are times in seconds within which the job ends with a probability.
type Quantiles struct {
	P50 float64 `json:"p50_seconds"`
	P90 float64 `json:"p90_seconds"`
	P99 float64 `json:"p99_seconds"`
}

// RoundTime is a round of the job that ran, with as many tasks as it would have now.
type RoundTime struct {
	Round   uint32  `json:"round"`
	Phase   string  `json:"phase"`
	Tasks   int     `json:"tasks"`       // 0 where no task times are known: the round takes as long as it did
	Known   int     `json:"known_times"` //
	Median  float64 `json:"median_seconds"`
	Longest float64 `json:"longest_seconds"`
}

// Stalls tell what copies are good for: tasks that took long enough to be copied.
type Stalls struct {
	Tasks int `json:"tasks"`
	Known int `json:"known_times"`
	// Copies that each task may need so that with probability 0.99 none stalls; -1 means more than 64.
	Copies int `json:"copies_for_p99"`
	Widest int `json:"tasks_of_widest_round"`
}

// TimeOf forecasts a job from those that ran, at least one: the figures beside the quantiles are of the first. workers
// and slots of each may be 0: as many as ran it. Rounds are those of the job that ran; where one had a leaf for each
// shard, its tasks are as many more or fewer as there are shards now.
func (j *Job) TimeOf(pasts []*Past, workers, slots int) (*Time, error) {
	var times []*Time
	for _, p := range pasts {
		t, err := j.timeOf(p, workers, slots)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Job, err)
		}
		times = append(times, t)
	}
	t := times[0]
	for i, other := range times {
		t.Reports = append(t.Reports, Report{other.From, other.FromSeconds, pasts[i].compared, pasts[i].differs,
			pasts[i].why})
	}
	t.simulate(times)
	return t, nil
}

// timeOf is the time of one job that ran, with what is to be simulated.
func (j *Job) timeOf(p *Past, workers, slots int) (*Time, error) {
	rounds, leftOut, err := p.rounds()
	if err != nil {
		return nil, err
	}
	t := &Time{From: p.Job, FromSeconds: p.Seconds, LeftOut: leftOut, MarksLost: p.Timeline.MarksLost,
		Scaled: int(min(p.Rounds[0].Leaves, maxTimes)), Shards: j.Inputs[0].Shards}
	t.FromWorkers = p.workers()
	each := slotsOf(rounds, t.FromWorkers)
	if told, ok := p.told(); ok {
		t.FromSlots, each = told, (told+t.FromWorkers-1)/t.FromWorkers
	} else {
		t.FromSlots, t.Guessed = each*t.FromWorkers, true
	}
	for i := range rounds {
		if err := rounds[i].settle(t.FromSlots); err != nil {
			return nil, err
		}
	}
	if t.Workers = workers; workers == 0 {
		t.Workers = t.FromWorkers
	}
	if t.SlotsPerWorker = slots; slots == 0 {
		t.SlotsPerWorker = each
	}
	if most := j.Busy.MaxWorkers; most > 0 {
		t.Workers = min(t.Workers, most)
	}
	if t.Slots = t.Workers * t.SlotsPerWorker; t.Workers == t.FromWorkers && slots == 0 {
		t.Slots = t.FromSlots
	}
	inRounds := 0.0
	for _, r := range p.Rounds {
		inRounds += r.Seconds
	}
	t.AsRecorded = max(0, p.Seconds-inRounds)
	t.plain = t.take(rounds)
	if t.Stalls.Widest > maxTasks {
		return nil, fmt.Errorf("a round would have %d tasks; %d can be simulated", t.Stalls.Widest, maxTasks)
	}
	return t, nil
}

// maxTasks bounds a simulated round: the coordinator takes no more leaves.
const maxTasks = 1 << 20

// simulate repeats the rounds of all jobs that ran, without copies, and with them where a second worker could make
// them.
func (t *Time) simulate(times []*Time) {
	tasks, scenarios := 0, make([]forecast.Scenario, len(times))
	for i, other := range times {
		scenarios[i] = forecast.Scenario{Rounds: other.plain, Rest: other.AsRecorded}
		for _, r := range other.plain {
			tasks += r.Tasks
		}
	}
	t.Repetitions = max(100, min(2000, 2_000_000/max(tasks, 1)))
	t.WithoutCopies = t.quantiles(scenarios)
	if t.Workers > 1 {
		for i, s := range scenarios {
			for r := range s.Rounds {
				s.Rounds[r].Copies = times[i].copies()
			}
		}
		q := t.quantiles(scenarios)
		t.Copies = &q
	}
}

func (t *Time) copies() forecast.Copies {
	return forecast.Copies{After: copyAfter, Least: copyLeast, From: copyFrom,
		Most: max(t.SlotsPerWorker, t.Slots*copyShare/100)}
}

// take makes the rounds to be simulated, without copies, and tells of their tasks.
func (t *Time) take(rounds []pastRound) []forecast.Round {
	var plain []forecast.Round
	for i := range rounds {
		r := &rounds[i]
		view := RoundTime{Round: r.Round, Phase: r.Phase, Known: r.known.Count()}
		t.AtLeast += r.cut
		if view.Known == 0 {
			t.AsRecorded += r.Seconds
			t.Rounds = append(t.Rounds, view)
			continue
		}
		t.AsRecorded += r.rest()
		view.Tasks, view.Median, view.Longest = r.tasks, r.known.Quantile(0.5), r.known.Quantile(1)
		if r.Leaves == uint64(t.Scaled) && t.Shards != t.Scaled {
			view.Tasks = max(1, (r.tasks*t.Shards+t.Scaled/2)/max(t.Scaled, 1))
		}
		t.Rounds = append(t.Rounds, view)
		late := r.known.Later(max(float64(copyAfter*view.Median), copyLeast))
		t.Stalls.Tasks += int(float64(late*float64(view.Known)) + 0.5) //lint:checked at most Known
		t.Stalls.Known += view.Known
		t.Stalls.Widest = max(t.Stalls.Widest, view.Tasks)
		plain = append(plain, forecast.Round{Tasks: view.Tasks, Slots: t.Slots, Times: r.known})
	}
	if t.Stalls.Known > 0 {
		q := float64(t.Stalls.Tasks) / float64(t.Stalls.Known)
		var enough bool
		if t.Stalls.Copies, enough = forecast.CopiesFor(q, t.Stalls.Widest, 0.99); !enough {
			t.Stalls.Copies = -1
		}
	}
	return plain
}

func (t *Time) quantiles(scenarios []forecast.Scenario) Quantiles {
	ends := forecast.Mix(scenarios, t.Repetitions, 0)
	at := func(p float64) float64 { return forecast.Quantile(ends, p) }
	return Quantiles{at(0.5), at(0.9), at(0.99)}
}

// Rows are the forecast for people; elapsed writes a time.
func (t *Time) Rows(elapsed func(time.Duration) string) [][2]string {
	span := func(seconds float64) string {
		return elapsed(time.Duration(min(seconds*float64(time.Second), 1<<62))) //lint:checked 0 to 2^62
	}
	quantiles := func(q Quantiles) string {
		return fmt.Sprintf("p50 %s, p90 %s, p99 %s", span(q.P50), span(q.P90), span(q.P99))
	}
	about := ""
	if t.Guessed {
		about = "about "
	}
	on := fmt.Sprintf("%s with %s each", protocol.Counted(t.Workers, "worker"),
		protocol.Counted(t.SlotsPerWorker, "slot"))
	if t.Workers == 1 {
		on = strings.TrimSuffix(on, " each")
	}
	rows := [][2]string{{"time", "on " + on + ", if tasks take as long as those of " + t.From + ":"}}
	without := " (no speculative copies: they need a second worker)"
	if t.Copies != nil {
		rows, without = append(rows, [2]string{"", quantiles(*t.Copies) + " with speculative copies"}), " without"
	}
	rows = append(rows, [2]string{"", quantiles(t.WithoutCopies) + without},
		[2]string{"", fmt.Sprintf("simulated %d times; %s of each are as recorded: planning, merges, steps, waiting",
			t.Repetitions, span(t.AsRecorded))},
		[2]string{"", fmt.Sprintf("it took %s, on %s with %s%s: %s", span(t.FromSeconds),
			protocol.Counted(t.FromWorkers, "worker"), about, protocol.Counted(t.FromSlots, "slot"), t.rounds())})
	if n := len(t.Reports); n > 1 {
		low, high := t.FromSeconds, t.FromSeconds
		for _, r := range t.Reports {
			low, high = min(low, r.Seconds), max(high, r.Seconds)
		}
		rows = append(rows, [2]string{"", fmt.Sprintf("%d jobs took %s to %s; the next is slower than all with "+
			"probability 1/%d", n, span(low), span(high), n+1)})
	} else {
		rows = append(rows, [2]string{"", "how much runs differ is not known of one job: name several with --from"})
	}
	if t.Scaled != t.Shards {
		rows = append(rows, [2]string{"", fmt.Sprintf("it had %s, this job has %d: tasks are taken to be as long, and "+
			"rounds to be the same", protocol.Counted(int64(t.Scaled), "shard"), t.Shards)})
	}
	for _, r := range t.Reports {
		if text := r.text(); text != "" {
			rows = append(rows, [2]string{"", text})
		}
	}
	return append(append(rows, t.Stalls.rows()...), t.notes()...)
}

// rounds names the rounds of the job that ran; of the same phase in a row, once.
func (t *Time) rounds() string {
	text := protocol.Counted(int64(len(t.Rounds)), "round")
	for i := 0; i < len(t.Rounds); {
		begin, separator := i, ", "
		for i < len(t.Rounds) && t.Rounds[i].Phase == t.Rounds[begin].Phase {
			i++
		}
		if begin == 0 {
			separator = " ("
		}
		text += separator + t.Rounds[begin].Phase
		if times := i - begin; times > 1 {
			text += fmt.Sprintf(" %d times", times)
		}
	}
	return text + ")"
}

func (s *Stalls) rows() [][2]string {
	text := fmt.Sprintf("%d of %d task times are beyond 1.5 times the median of their round, and 0.2s", s.Tasks,
		s.Known)
	switch {
	case s.Known == 0:
		text = "no task times are known: all of it is as recorded"
	case s.Tasks == 0:
		text += ": copies have nothing to win"
	case s.Copies < 0:
		text += ": stalls are the rule, and no number of copies helps"
	default:
		text += fmt.Sprintf("; if that is chance, %s of each of %d tasks would keep all from stalling with "+
			"probability 0.99 (Gram makes 1)", copies(s.Copies), s.Widest)
	}
	return [][2]string{{"stalls", text}}
}

// notes say what the task times lack.
func (t *Time) notes() (rows [][2]string) {
	note := func(n int, text string) {
		if n > 0 {
			rows = append(rows, [2]string{"", fmt.Sprintf(text, n)})
		}
	}
	note(t.AtLeast, "%d task times are lower bounds: a copy was first")
	note(t.LeftOut, "%d short tasks are left out: the timeline joins them")
	note(t.MarksLost, "%d marks of the timeline are lost")
	return rows
}

func copies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return fmt.Sprintf("%d copies", n)
}
