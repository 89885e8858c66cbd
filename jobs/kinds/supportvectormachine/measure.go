package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/smo"
)

// measure takes over what the last step did to the coefficients of a record, and measures where it stands in each of
// its machines.
func (w *walk) measure(c rows.Chunk, i int, ordinal int64, at int) error {
	class := int(c.Class[i])
	cost := w.costs[class]
	if c.Weights != nil {
		cost = float64(cost * c.Weight(i))
	}
	for _, j := range w.changed[ordinal] {
		first, second := w.tally.classes.classes(int(w.working.machine[j]))
		if class != first && class != second {
			return jobs.Malformed("record %d is of class %d, and in machine %d", ordinal, class, w.working.machine[j])
		}
		w.after.alpha[at+w.tally.classes.slot(class, first+second-class)] = w.working.alpha[j]
	}
	if w.stage == stageCollect {
		w.collect(c, i, ordinal, at)
	}
	if cost == 0 {
		return nil
	}
	for slot := range w.tally.classes.slots() {
		machine, y := w.tally.classes.at(class, slot)
		if w.chosen[machine] == nil {
			continue
		}
		m := member{class: c.Class[i], cost: cost, alpha: w.after.alpha[at+slot], f: w.after.f[at+slot],
			row: c.X.Row(i)}
		w.consider(machine, ordinal, y, m)
		if w.stage == stageCollect {
			continue
		}
		if err := w.addTerms(machine, y, m, at+slot); err != nil {
			return err
		}
	}
	return nil
}

// consider keeps a member if it is one of the most violating so far.
func (w *walk) consider(machine int, ordinal int64, y float64, m member) {
	up, low := smo.Sides(m.alpha, y, m.cost)
	list := w.chosen[machine]
	value := y - m.f
	up, low = up && list.KeepsUp(value, ordinal), low && list.KeepsLow(value, ordinal)
	if !up && !low {
		return
	}
	m.row = append([]float32(nil), m.row...)
	list.Add(candidate{Ordinal: ordinal, Value: value, Payload: m}, up, low)
}

// addTerms adds what a member does to the sums of its machine.
func (w *walk) addTerms(machine int, y float64, m member, at int) error {
	r := smo.Record{Alpha: m.alpha, Y: y, Cost: m.cost, Value: m.f}
	if w.proof != nil {
		r.Error = w.proof.errors[at]
		if m.alpha > 0 {
			w.diagonal = max(w.diagonal, w.proof.diagonal(m.row))
		}
	}
	for i, v := range r.Terms(w.bias[machine]).List() {
		if v-v != 0 {
			return beyond()
		}
		if v != 0 {
			w.terms.Add(machine*termSums+i, v)
		}
	}
	return nil
}

// collect keeps a record if one of its coefficients is not 0.
func (w *walk) collect(c rows.Chunk, i int, ordinal int64, at int) {
	alpha := w.after.alpha[at : at+w.tally.classes.slots()]
	for _, a := range alpha {
		if a != 0 {
			w.found.ordinal, w.found.class = append(w.found.ordinal, ordinal), append(w.found.class, c.Class[i])
			w.found.alpha, w.found.rows = append(w.found.alpha, alpha...), append(w.found.rows, c.X.Row(i)...)
			return
		}
	}
}
