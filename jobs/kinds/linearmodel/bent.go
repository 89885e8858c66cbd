package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// held are a leaf's carry: of each training record of its block, by machine.
type held struct {
	centers, alpha carried // [records, slots]
}

// Fields lists the coefficients.
func (h *held) Fields(f *jobs.Fields) {
	jobs.List(f, "centers", (*[]float64)(&h.centers))
	jobs.List(f, "alpha", (*[]float64)(&h.alpha), len(h.centers))
}

// bent is how far a leaf is.
type bent struct {
	*newtonState
	before, after held
	of, values    []float64
	curves        []*dual.Outers // of each machine
	standings     []dual.Standing
}

func newBent(s *newtonState) *bent {
	l := &bent{newtonState: s, of: make([]float64, len(s.now)), values: make([]float64, s.machines()),
		standings: make([]dual.Standing, s.machines())}
	for range s.machines() {
		l.curves = append(l.curves, dual.NewOuters(s.stride()))
	}
	return l
}

// measure finds the coefficients of a record and adds up what they make.
func (l *bent) measure(r *record) error {
	for slot := range l.slots() {
		k, side := l.at(r.class, slot)
		at := r.number*l.slots() + slot
		from := l.before.centers
		if l.moves[k] == 1 {
			from = l.before.alpha
		}
		center, err := from.at(at)
		if err != nil {
			return err
		}
		alpha := center
		if l.done[k] == 1 {
			alpha, err = l.before.alpha.at(at) // what was proved is of these
		}
		if err != nil {
			return err
		}
		if r.cost > 0 && l.done[k] == 0 {
			alpha = l.bend(r, k, side, center)
		}
		l.after.centers, l.after.alpha = append(l.after.centers, center), append(l.after.alpha, alpha)
	}
	return nil
}

// bend finds the coefficient of a record of side y in machine k.
func (l *bent) bend(r *record, k int, y, center float64) float64 {
	short := r.target - float64(y*r.Dot(l.row(l.now, k)))
	alpha, value, bend := l.loss.Near(center, short, r.cost, float64(l.descent[k*descentNumbers]*l.scale))
	l.standings[k].Add(l.loss, r.target, alpha, short, r.square, r.cost, r.Terms())
	l.values[k] += value
	if alpha != 0 {
		r.AddTo(l.row(l.of, k), float64(alpha*y))
	}
	if bend > 0 {
		l.curves[k].Add(r.Row, bend)
	}
	return alpha
}

// tally is what the leaf found.
func (l *bent) tally(ops *kernelops.Set) (*bends, error) {
	m, err := measuresOf(l.standings)
	numbers := 0
	for _, c := range l.curves {
		numbers += c.Len()
	}
	t := &bends{measures: m, of: sums.NewExact(len(l.of)), curves: sums.NewExact(numbers),
		values: sums.NewExact(len(l.values))}
	if err == nil {
		err = addAll(t.of, 0, l.of...)
	}
	for k, c := range l.curves {
		if err == nil {
			err = addAll(t.curves, k*c.Len(), c.Triangle(ops)...)
		}
	}
	if err == nil {
		err = addAll(t.values, 0, l.values...)
	}
	return t, err
}
