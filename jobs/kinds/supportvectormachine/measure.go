package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/smo"
)

// record is a training record of a chunk.
type record struct {
	rows.Chunk
	i       int // in the chunk
	ordinal int64
	number  float64 // of regression
	novel   bool    // of one class: not to learn from
	at      int     // of its first coefficient
	nth     int     // place in the leaf's block
}

// measure takes over what the last step did to the coefficients of a record, and measures where it stands.
func (w *walk) measure(r record) error {
	if w.oneClass {
		return w.measureOneClass(r)
	}
	class := int(r.Class[r.i])
	if w.regresses {
		class = 0
	}
	cost := w.costs[class]
	if r.Weights != nil {
		cost = float64(cost * r.Weight(r.i))
	}
	if err := w.takeOver(r, class); err != nil {
		return err
	}
	switch w.stage {
	case stageDivide:
		if cost > 0 {
			w.offer(r)
		}
		return nil
	case stageCollect:
		w.collect(r, class)
	}
	if w.holds(r) {
		return nil
	}
	if w.stage == stageCalibrate {
		return w.calibrate(r, class, cost)
	}
	if w.closing != nil {
		w.closing.add(r, class, cost, w.after.alpha[r.at:r.at+w.perRecord()], w.after.f[r.at:])
	}
	if cost == 0 {
		return nil
	}
	w.noteIdle(r, class, cost)
	switch {
	case w.leftOut(r.nth):
		w.tally.leftOut++
		return nil
	case w.regresses:
		return w.measureNumber(r, cost)
	}
	return w.measureClass(r, class, cost)
}

// measureClass measures a record of a class in each machine of that.
func (w *walk) measureClass(r record, class int, cost float64) error {
	if w.tally.margins != nil {
		w.findTwins(r.X.Row(r.i), class)
	}
	for slot := range w.tally.classes.Slots() {
		machine, y := w.tally.classes.Of(class, slot, w.clusterAt(r.at))
		if w.chosen[machine] == nil {
			continue
		}
		at := r.at + slot
		w.consider(machine, r.ordinal, y, member{class: r.Class[r.i], cost: cost, alpha: w.after.alpha[at],
			target: w.target(0, y), f: w.after.f[at], row: r.X.Row(r.i)})
		if w.proof == nil {
			continue
		}
		terms := smo.Record{Alpha: w.after.alpha[at], Y: y, Cost: cost}
		terms.Value, terms.Error = w.lifted(w.after.f[at], float64(y*terms.Alpha), w.proof.errors[at])
		if err := w.addTerms(machine, terms.Terms(w.bias[machine]), terms.Alpha != 0, r); err != nil {
			return err
		}
		if w.tally.margins != nil {
			w.tally.margins.nearest[machine].Add(terms)
		}
	}
	return nil
}

// measureNumber measures both variables of a record of regression.
func (w *walk) measureNumber(r record, cost float64) error {
	machine := w.clusterAt(r.at)
	if w.chosen[machine] == nil {
		return nil
	}
	for y := range 2 {
		side := w.tally.classes.Side(machine, y)
		w.consider(machine, w.variable(r.ordinal, y), side, member{class: int32(y), cost: cost,
			alpha: w.after.alpha[r.at+y], target: w.target(r.number, side), f: w.after.f[r.at+y], row: r.X.Row(r.i)})
	}
	if w.proof == nil {
		return nil
	}
	beta := w.after.alpha[r.at+1] - w.after.alpha[r.at]
	if beta != 0 {
		w.rate = max(w.rate, r.number, -r.number)
	}
	terms := smo.Number{Beta: beta, Cost: cost, Target: r.number, Epsilon: w.epsilon}
	terms.Value, terms.Error = w.lifted(w.after.f[r.at], beta, w.proof.errors[r.at])
	return w.addTerms(machine, terms.Terms(w.bias[0]), beta != 0, r)
}

// takeOver sets the coefficients of a record that the last step changed.
func (w *walk) takeOver(r record, class int) error {
	if w.regresses {
		for y := range 2 {
			for _, j := range w.changed[w.variable(r.ordinal, y)] {
				w.after.alpha[r.at+y] = w.working.alpha[j]
			}
		}
		return nil
	}
	for _, j := range w.changed[r.ordinal] {
		first, second := w.tally.classes.Pair(int(w.working.machine[j]))
		if class != first && class != second {
			return jobs.Malformed("record %d is of class %d, and in machine %d", r.ordinal, class, w.working.machine[j])
		}
		w.after.alpha[r.at+w.tally.classes.Slot(class, first+second-class)] = w.working.alpha[j]
	}
	return nil
}

// consider keeps a member if it is one of the most violating so far.
func (w *walk) consider(machine int, variable int64, y float64, m member) {
	up, low := smo.Sides(m.alpha, y, m.cost)
	list := w.chosen[machine]
	value := m.target - m.f
	up, low = up && list.KeepsUp(value, variable), low && list.KeepsLow(value, variable)
	if !up && !low {
		return
	}
	m.row = w.travel(variable, m.row)
	list.Add(candidate{Ordinal: variable, Value: value, Payload: m}, up, low)
}

// addTerms adds what a record does to the sums of a machine.
func (w *walk) addTerms(machine int, terms smo.Terms, supports bool, r record) error {
	if supports {
		w.diagonal = max(w.diagonal, w.proof.diagonal(r))
	}
	for i, v := range terms.List() {
		if v-v != 0 {
			return beyond()
		}
		if v != 0 {
			w.terms.Add(machine*termSums+i, v)
		}
	}
	return nil
}

// collect keeps a record if one of its coefficients is not 0. Of numbers that is the difference of both, and what both
// have more than it is taken away: the decisions stay, and the dual grows.
func (w *walk) collect(r record, class int) {
	alpha := w.after.alpha[r.at : r.at+w.perRecord()]
	if w.regresses {
		beta := alpha[1] - alpha[0]
		alpha[0], alpha[1] = max(0, -beta), max(0, beta)
		alpha = []float64{beta}
	}
	for _, a := range alpha {
		if a != 0 {
			if w.early != nil {
				w.found.cluster = append(w.found.cluster, int32(w.clusterAt(r.at)))
			}
			w.found.ordinal, w.found.class = append(w.found.ordinal, r.ordinal), append(w.found.class, int32(class))
			w.found.alpha, w.found.rows = append(w.found.alpha, alpha...),
				append(w.found.rows, r.X.Row(r.i)[:w.model.rowWidth()]...)
			return
		}
	}
}
