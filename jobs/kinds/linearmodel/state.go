package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// state is a model in training, and where each machine is.
type state struct {
	*model
	costs []float64 // of a record of each class that weighs 1
	now   []float64 // weights, as those of the model: the running sums
	step  []float64 // that the coefficients have yet to go along the last course of each machine
	drift []float64 // bound on how far now is from the sum that the coefficients say
	done  []int32   // 1 of the machines that are
}

// Fields lists the state.
func (s *state) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.model).Fields(f)
	jobs.List(f, "costs", &s.costs, s.space.Labels.Len())
	jobs.List(f, "now", &s.now, s.machines(), s.stride())
	jobs.List(f, "step", &s.step, s.machines())
	jobs.List(f, "drift", &s.drift, s.machines())
	jobs.List(f, "done", &s.done, s.machines())
}

// coefficients are a leaf's carry: of each training record of its block, one of each for each machine.
type coefficients struct {
	alpha, change []float64 // [records, machines]
}

// Fields lists the coefficients.
func (c *coefficients) Fields(f *jobs.Fields) {
	jobs.List(f, "alpha", &c.alpha)
	jobs.List(f, "change", &c.change, len(c.alpha))
}

// The sums of a tally, of each machine.
const (
	sumLoss = iota
	sumSlope
	sumBend
	sumLinear
	sumQuadratic
	sumReach
	sumGain
	sumCross
	sumCourseBend
	sumTravel
	tallySums
)

// tally is what leaves found together.
type tally struct {
	moves     *sums.Exact // [machines x stride]: sums of change y x
	sums      *sums.Exact // [machines x tallySums]
	room      []float64   // of each machine, the longest step
	violation []float64   // of each machine, the greatest
	records   int64       // of the largest block
	terms     int64       // of the longest row
}

// Fields lists the tally.
func (t *tally) Fields(f *jobs.Fields) {
	jobs.Make(f, &t.moves).Fields(f, "moves")
	jobs.Make(f, &t.sums).Fields(f, "sums")
	jobs.List(f, "room", &t.room)
	jobs.List(f, "violation", &t.violation, len(t.room))
	jobs.Tuple(f, "longest", &t.records, &t.terms)
}

// plus joins what two neighbors found.
func (t *tally) plus(right *tally) (*tally, error) {
	if len(t.room) != len(right.room) {
		return nil, jobs.Malformed("tallies of %d and %d machines", len(t.room), len(right.room))
	}
	both := &tally{room: make([]float64, len(t.room)), violation: make([]float64, len(t.room)),
		records: max(t.records, right.records), terms: max(t.terms, right.terms)}
	for k := range t.room {
		both.room[k], both.violation[k] = min(t.room[k], right.room[k]), max(t.violation[k], right.violation[k])
	}
	var err error
	if both.moves, err = t.moves.Plus(right.moves); err == nil {
		both.sums, err = t.sums.Plus(right.sums)
	}
	return both, err
}
