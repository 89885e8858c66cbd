package estimate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/report/forecast"
)

// Past is what the report of a finished job tells of its time.
type Past struct {
	origin.Report
	Seconds  float64          `json:"seconds"`
	Timeline *report.Timeline `json:"timeline"`

	compared bool   // its spec is known
	why      string // it is not
	differs  []origin.Field
}

// ReadPast reads a report.json. A report without task times is an error.
func ReadPast(data []byte) (*Past, error) {
	if _, err := origin.ReadReport(data); err != nil {
		return nil, err
	}
	p := new(Past)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if p.Timeline == nil || len(p.Rounds) == 0 {
		return nil, errors.New("it has no timeline, and so no task times")
	}
	return p, nil
}

// maxTimes bounds the task times of a report.
const maxTimes = 1 << 22

// pastRound is a round of a finished job, and how long its map tasks took.
type pastRound struct {
	origin.ReportRound
	seconds  []float64 // of attempts that ended, or were in vain because a copy was first
	tasks    int       // that were committed
	cut      int       // of seconds: in vain, so that they would have taken longer
	work     float64   // of all attempts, in vain or not
	from, to float64   // of all that was mapped
	known    forecast.Times
}

// atATime is how many attempts were at work at a time, on average.
func (r *pastRound) atATime() float64 {
	if r.to <= r.from {
		return 0
	}
	return r.work / (r.to - r.from)
}

// rest is what the round took beside its map tasks: merging, the step, and waiting for both.
func (r *pastRound) rest() float64 { return max(0, r.Seconds-(r.to-r.from)) }

// rounds sorts the marks of map tasks by round. leftOut counts the tasks of marks that tell of no single task.
func (p *Past) rounds() (rounds []pastRound, leftOut int, err error) {
	t := p.Timeline
	mapped := slices.Index(t.Works, report.Works[report.WorkMap])
	ended := slices.Index(t.Outcomes, report.Outcomes[report.Committed])
	vain := slices.Index(t.Outcomes, report.Outcomes[report.InVain])
	for _, r := range p.Rounds {
		rounds = append(rounds, pastRound{ReportRound: r})
	}
	total := 0
	for i, m := range t.Marks {
		if total += m.Tasks; m.Tasks < 1 || total > maxTimes || !(m.From <= m.To) {
			return nil, 0, fmt.Errorf("mark %d of the timeline has %d tasks from %v to %v", i, m.Tasks, m.From, m.To)
		}
		at := slices.IndexFunc(rounds, func(r pastRound) bool { return r.Round == m.Round })
		switch several := m.Work == report.WorkSeveral; {
		case several, int(m.Work) == mapped && at < 0:
			leftOut += m.Tasks
		case int(m.Work) == mapped:
			rounds[at].take(m, int(m.Outcome) == ended, int(m.Outcome) == vain)
		}
	}
	return rounds, leftOut, nil
}

// take takes in the time of tasks in a row, each an equal part of it. What failed or expired tells of no task's time.
// Of two attempts the original that came second counts, with the time that it had: it is what copies are for.
func (r *pastRound) take(m report.Mark, ended, vain bool) {
	if r.to == 0 && r.from == 0 {
		r.from = m.From
	}
	r.from, r.to = min(r.from, m.From), max(r.to, m.To)
	r.work += m.To - m.From
	switch {
	case ended:
		r.tasks += m.Tasks
	case vain && !m.Speculative:
		r.cut += m.Tasks
	default:
		return
	}
	for range m.Tasks {
		r.seconds = append(r.seconds, (m.To-m.From)/float64(m.Tasks))
	}
}

// workers returns how many workers there were.
func (p *Past) workers() int {
	var seen []int
	for _, m := range p.Timeline.Marks {
		if !slices.Contains(seen, m.Worker) {
			seen = append(seen, m.Worker)
		}
	}
	return max(len(seen), 1)
}

// told returns how many slots the workers that were at work had together, and false where the report does not tell.
func (p *Past) told() (slots int, ok bool) {
	for _, w := range p.Timeline.Workers {
		if w.Slots < 1 || w.Slots > maxTimes {
			return 0, false
		}
		slots += w.Slots
	}
	return slots, slots > 0
}

// slotsOf estimates how many slots each of some workers had: the attempts that were at work at a time, rounded, in the
// round in which they were most. Marks tell no better: a worker is granted its next task while the commit of its
// last is on the way, so that it shows more rows than there are slots.
func slotsOf(rounds []pastRound, workers int) int {
	most := 0.0
	for i := range rounds {
		most = max(most, rounds[i].atATime())
	}
	return max(1, int(min(most/float64(workers), 1<<20)+0.5)) //lint:checked at most 2^20 and positive
}

// settle makes the distribution of the round's task times. Times in which more attempts were at work than there were
// slots overlap by waiting, and count for less.
func (r *pastRound) settle(slots int) (err error) {
	if len(r.seconds) == 0 || r.tasks == 0 {
		return nil
	}
	if over := r.atATime() / float64(slots); over > 1 {
		for i := range r.seconds {
			r.seconds[i] /= over
		}
	}
	r.known, err = forecast.TimesOf(r.seconds)
	return err
}
