package linearmodel

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// newtonPhase measures all records at the incoming weights, with the coefficients that are best there while they are
// held near their centers, and takes a step of Newton's method (see dual.Descent).
type newtonPhase struct{ job }

const newtonName = "newton"

// newtonState is a training by Newton's method.
type newtonState struct {
	training
	origin  []float64 // weights where the last steps began
	descent []float64 // [machines, 4]: pull, loose, value and slope of a dual.Descent
	backs   []int64   // of each
	scale   float64   // of what the pulls are parts
	moves   []int32   // 1 where the coefficients of the last round are the centers of this
}

// descentNumbers is how many numbers of a dual.Descent are in newtonState.descent.
const descentNumbers = 4

// Fields lists the state.
func (s *newtonState) Fields(f *jobs.Fields) {
	s.training.Fields(f)
	jobs.List(f, "origin", &s.origin, s.machines(), s.stride())
	jobs.List(f, "descent", &s.descent, s.machines(), descentNumbers)
	jobs.List(f, "backs", &s.backs, s.machines())
	jobs.List(f, "moves", &s.moves, s.machines())
	jobs.Scalar(f, "scale", &s.scale)
}

// newNewton begins, warm with weights that are near the best.
func newNewton(t training, warm bool) *newtonState {
	s := &newtonState{training: t, origin: make([]float64, len(t.now)), descent: make([]float64, 0, t.machines()),
		backs: make([]int64, t.machines()), moves: make([]int32, t.machines()), scale: 1}
	d := dual.NewDescent(t.loss.Form)
	if warm {
		d = d.Warm()
	}
	for range t.machines() {
		s.descent = append(s.descent, d.Pull, d.Loose, d.Value, d.Slope)
	}
	return s
}

func (s *newtonState) descentOf(k int) dual.Descent {
	v := s.descent[k*descentNumbers:]
	return dual.Descent{Pull: v[0], Loose: v[1], Value: v[2], Slope: v[3], Backs: s.backs[k]}
}

func (s *newtonState) setDescent(k int, d dual.Descent) {
	copy(s.descent[k*descentNumbers:], []float64{d.Pull, d.Loose, d.Value, d.Slope})
	s.backs[k] = d.Backs
}

// bends is what a leaf of this phase finds.
type bends struct {
	measures
	of     *sums.Exact // [machines x stride]: W of the coefficients
	curves *sums.Exact // [machines x triangle]: what the Hessian has beside 1
	values *sums.Exact // of each machine
}

// Fields lists the tally.
func (t *bends) Fields(f *jobs.Fields) {
	t.measures.Fields(f)
	jobs.Make(f, &t.of).Fields(f, "of")
	jobs.Make(f, &t.curves).Fields(f, "curves")
	jobs.Make(f, &t.values).Fields(f, "values")
}

// plus joins what two neighbors found.
func (t *bends) plus(right *bends) (*bends, error) {
	m, err := t.measures.plus(&right.measures)
	both := &bends{measures: m}
	if err == nil {
		both.of, err = t.of.Plus(right.of)
	}
	if err == nil {
		both.curves, err = t.curves.Plus(right.curves)
	}
	if err == nil {
		both.values, err = t.values.Plus(right.values)
	}
	return both, err
}

// held are a leaf's carry: of each training record of its block, by machine.
type held struct {
	centers, alpha carried // [records, slots]
}

// Fields lists the coefficients.
func (h *held) Fields(f *jobs.Fields) {
	jobs.List(f, "centers", (*[]float64)(&h.centers))
	jobs.List(f, "alpha", (*[]float64)(&h.alpha), len(h.centers))
}

func (p *newtonPhase) phase() jobs.Phase {
	return jobs.MapReduce[*newtonState, *bends]{
		Name: newtonName, State: jobs.Load[newtonState], Partial: func() *bends { return new(bends) },
		Carry: p.measure, Merge: (*bends).plus, Step: p.step, Gathers: p.gathers,
	}.Phase()
}

// gathers is what the matrices take at most, which only the state knows: as numbers, and as sums of several limbs.
func (p *newtonPhase) gathers(jobs.Leaf, func(jobs.Source, int) int64) int64 {
	const each = 8 * 6
	if p.Params.Solver == newtonName {
		return each*newtonNumbers + p.gathersSupport()
	}
	return each*autoNumbers + p.gathersSupport()
}

// measure goes once over the leaf's own block: O(values x columns) for each machine at most.
func (p *newtonPhase) measure(
	ctx context.Context, s *newtonState, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (*bends, jobs.Arrays, error) {
	l := newBent(s)
	if len(carry) > 0 {
		if _, err := jobs.Read(carry, &l.before); err != nil {
			return nil, nil, err
		}
	}
	if s.ended == 1 {
		w, err := p.support(ctx, &s.training, leaf, l.before.alpha, ops)
		return &bends{measures: measuresOfLast(w), of: sums.NewExact(0), curves: sums.NewExact(0),
			values: sums.NewExact(0)}, carry, err
	}
	number := 0
	err := p.read(ctx, &s.training, leaf, func(v features.Vectors, part jobs.Part) error {
		for i := range v.Rows {
			r, err := s.recordOf(v, part.Labels, i, number, ops)
			if err == nil {
				err = l.measure(&r)
			}
			if err != nil {
				return err
			}
			number++
		}
		return nil
	})
	if err == nil {
		err = l.before.alpha.checkLen(len(l.after.alpha))
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := l.tally(ops)
	return t, jobs.ArraysOf(&l.after), err
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

// step certifies the weights that came in, and moves those of machines that are not done.
func (p *newtonPhase) step(ctx context.Context, s *newtonState, all *bends, round jobs.Round) (jobs.Next, error) {
	if s.ended == 1 {
		return p.close(ctx, &s.training, all.written, round)
	}
	triangle := dual.TriangleLen(s.stride())
	if err := all.check(s.machines()); err != nil {
		return jobs.Next{}, err
	}
	if all.of.Len() != len(s.now) || all.curves.Len() != s.machines()*triangle || all.values.Len() != s.machines() {
		return jobs.Next{}, jobs.Malformed("a tally of %d weights, not %d", all.of.Len(), len(s.now))
	}
	s.own()
	s.origin, s.descent = slices.Clone(s.origin), slices.Clone(s.descent)
	s.backs, s.moves = slices.Clone(s.backs), slices.Clone(s.moves)
	if s.rounds++; s.rounds == 1 && all.records == 0 {
		return jobs.Next{}, weightless()
	}
	var facts jobs.Facts
	for k := range s.proofs {
		if s.moves[k] = 0; s.done[k] == 1 {
			continue
		}
		standing, of := all.standing(k), floats(all.of, k*s.stride(), s.stride())
		now := dual.Certify(s.loss, s.row(s.now, k), of, standing, standing.Drift(of))
		if err := s.certify(k, now, standing.Records); err != nil {
			return jobs.Next{}, err
		}
		s.bound(k, s.row(s.now, k), of, standing, standing.Drift(of))
		s.facts(&facts, k, standing)
		switch {
		case s.proofs[k].Relative() <= p.Params.Tol:
			s.done[k] = 1
		case s.rounds == 1 && s.loss.Tube(): // the records have just told how far pulls have to reach
			s.scale = standing.Scale()
		default:
			s.move(k, of, floats(all.curves, k*triangle, triangle), all.values.Float(k))
		}
	}
	return p.next(&s.training, newtonName, s, facts, round)
}

// move takes a step of a machine's descent, or ends it where none changes anything.
func (s *newtonState) move(k int, of, triangle []float64, value float64) {
	origin, now, d := s.row(s.origin, k), s.row(s.now, k), s.descentOf(k)
	moves, ended := d.Next(origin, now, of, triangle, value, s.proofs[k].GapUpper)
	s.setDescent(k, d)
	if moves {
		s.moves[k] = 1
	}
	if ended || !jobs.Finite(now) {
		s.done[k] = 1
		copy(now, origin)
	}
}
