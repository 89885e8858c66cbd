package report

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/report/style"
)

// Timeline is who did what when. Times are seconds since the job's submission.
type Timeline struct {
	Begins string  `json:"begins"`                  // that submission, in UTC
	Since  float64 `json:"since,omitempty"`         // what was before, another coordinator saw
	Grain  float64 `json:"grain_seconds,omitempty"` // tasks in a row with shorter pauses are one mark

	Workers  []Worker `json:"workers"`
	Rounds   []Span   `json:"-"`        // report.json has them elsewhere
	Works    []string `json:"works"`    // what a mark's number for it means
	Outcomes []string `json:"outcomes"` // likewise

	Marks      []Mark  `json:"marks"` // worker, slot, from, to, work, round, tasks, outcome, speculative
	MarksLost  int     `json:"marks_lost,omitempty"`
	Events     []Event `json:"events"`
	EventsLost int     `json:"events_lost,omitempty"`

	Forecasts []Forecast `json:"forecasts,omitempty"` // in order of round
}

// Worker has a lane of the timeline, with a row for each of its slots.
type Worker struct {
	Name    string `json:"name"`
	Kernels string `json:"kernels,omitempty"`
	Slots   int    `json:"slots,omitempty"` // tasks that it takes at a time; 0 in reports that do not tell
}

// Span is the time of a round.
type Span struct {
	Round    uint32
	From, To float64
}

// Event is what happened besides.
type Event struct {
	At     float64 `json:"at"`
	What   string  `json:"what"`
	Worker string  `json:"worker,omitempty"`
	Task   string  `json:"task,omitempty"`
}

// Work is what a worker did in the time of a mark, an index of Works.
type Work int

// The works.
const (
	WorkPlan Work = iota + 1
	WorkMap
	WorkMerge
	WorkStep
	WorkReport
	WorkSeveral
)

// Works names them.
var Works = []string{"", "plan", "map", "merge", "step", "report", "several"}

// Outcome is how it ended, an index of Outcomes.
type Outcome int

// The outcomes.
const (
	Committed Outcome = iota + 1
	InVain            // another was first, or the round was over
	Failed
	Expired // the lease was not renewed

	AtWork Outcome = 0 // it has not ended: of a live page alone
)

// Outcomes names them.
var Outcomes = []string{"", "committed", "in vain", "failed", "expired"}

// Mark is the time a worker was at work on a task, or on several in a row.
type Mark struct {
	Worker, Slot int
	From, To     float64
	Work         Work
	Round        uint32 // 0: of several
	Tasks        int
	Outcome      Outcome
	Speculative  bool
}

// MarshalJSON writes a mark as a list of numbers: there may be thousands.
func (m Mark) MarshalJSON() ([]byte, error) {
	speculative := 0
	if m.Speculative {
		speculative = 1
	}
	return json.Marshal([]any{m.Worker, m.Slot, m.From, m.To, m.Work, m.Round, m.Tasks, m.Outcome, speculative})
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses lists of another length.
func (m *Mark) UnmarshalJSON(data []byte) error {
	var list []json.Number
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	speculative := 0
	fields := []any{&m.Worker, &m.Slot, &m.From, &m.To, &m.Work, &m.Round, &m.Tasks, &m.Outcome, &speculative}
	if len(list) != len(fields) {
		return fmt.Errorf("a mark of the timeline has %d numbers, not %d", len(list), len(fields))
	}
	for i, number := range list {
		if err := json.Unmarshal([]byte(number), fields[i]); err != nil {
			return fmt.Errorf("number %d of a mark of the timeline: %w", i, err)
		}
	}
	m.Speculative = speculative != 0
	return nil
}

// text says what a mark is, for a pointer that rests on it.
func (t *Timeline) text(m Mark) string {
	what := named(Works, int(m.Work))
	if m.Round > 0 && m.Work != WorkPlan {
		what = fmt.Sprintf("%s, round %d", what, m.Round)
	}
	if m.Tasks > 1 {
		what = fmt.Sprintf("%d tasks: %s", m.Tasks, what)
	}
	if m.Speculative {
		what = "speculative copy: " + what
	}
	switch m.Outcome {
	case AtWork:
		what += ", at work"
	case Committed:
	default:
		what += ", " + named(Outcomes, int(m.Outcome))
	}
	return fmt.Sprintf("%s: %s, %s to %s", t.Workers[m.Worker].Name, what, style.Clock(m.From), style.Clock(m.To))
}

func named(names []string, i int) string {
	if i <= 0 || i >= len(names) {
		return "?"
	}
	return names[i]
}
