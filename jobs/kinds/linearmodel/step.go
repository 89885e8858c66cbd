package linearmodel

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// ascendState is a training by blocks that ascend. Its weights are running sums.
type ascendState struct {
	training
	last   []float64 // by how much the last step moved them
	steps  []float64 // that the coefficients have yet to go along the last course of each machine
	drift  []float64 // bound on how far the weights are from the sum that the coefficients say
	beyond []float64 // how far blocks begin beyond the weights, as a part of the last step
	terms  []float64 // of the sequence that says so
	blocks int64
	given  int32 // 1 in the round that begins with the weights of a model, which no coefficients say
}

// newAscend begins, given weights of a model or none.
func newAscend(t training, blocks int, given bool) *ascendState {
	n := t.machines()
	s := &ascendState{training: t, last: make([]float64, len(t.now)), steps: make([]float64, n),
		drift: make([]float64, n), beyond: make([]float64, n), terms: make([]float64, n), blocks: int64(blocks)}
	for k := range n {
		s.restart(k)
	}
	if given {
		s.given = 1
	}
	return s
}

// Fields lists the state.
func (s *ascendState) Fields(f *jobs.Fields) {
	s.training.Fields(f)
	jobs.List(f, "last", &s.last, s.machines(), s.stride())
	jobs.List(f, "steps", &s.steps, s.machines())
	jobs.List(f, "drift", &s.drift, s.machines())
	jobs.List(f, "beyond", &s.beyond, s.machines())
	jobs.List(f, "terms", &s.terms, s.machines())
	jobs.Scalar(f, "blocks", &s.blocks)
	jobs.Enum(f, "given", &s.given, 0, 1)
	f.Require(s.blocks > 0, "%d blocks", s.blocks)
}

// restart lets the next round begin at the weights.
func (s *ascendState) restart(k int) { s.beyond[k], s.terms[k] = 0, 1 }

// accelerate lets the next round begin beyond the weights, the further the longer steps have held (Beck and Teboulle,
// "A fast iterative shrinkage-thresholding algorithm", SIAM Journal on Imaging Sciences 2, 2009, (4.2) and (4.3)).
func (s *ascendState) accelerate(k int) {
	t := s.terms[k]
	next := (1 + math.Sqrt(1+float64(4*float64(t*t)))) / 2
	s.beyond[k], s.terms[k] = (t-1)/next, next
}

// courseSums is how many sums a dual.Course has.
const courseSums = 4 + len(dual.Course{}.Grid)

// tally is what leaves found together.
type tally struct {
	measures
	moves   *sums.Exact // [machines x stride]: sums of change y x
	courses *sums.Exact // [machines x courseSums]
	room    []float64   // of each machine, the longest step
}

// Fields lists the tally.
func (t *tally) Fields(f *jobs.Fields) {
	t.measures.Fields(f)
	jobs.Make(f, &t.moves).Fields(f, "moves")
	jobs.Make(f, &t.courses).Fields(f, "courses")
	jobs.List(f, "room", &t.room, len(t.violation))
}

// plus joins what two neighbors found.
func (t *tally) plus(right *tally) (*tally, error) {
	m, err := t.measures.plus(&right.measures)
	if err != nil {
		return nil, err
	}
	both := &tally{measures: m, room: make([]float64, len(t.room))}
	for k := range t.room {
		both.room[k] = min(t.room[k], right.room[k])
	}
	if both.moves, err = t.moves.Plus(right.moves); err == nil {
		both.courses, err = t.courses.Plus(right.courses)
	}
	return both, err
}

// course is what all leaves propose for one machine.
func (t *tally) course(k int) dual.Course {
	v := func(i int) float64 { return t.courses.Float(k*courseSums + i) }
	c := dual.Course{Gain: v(0), Cross: v(1), Bend: v(2), Travel: v(3), Room: t.room[k]}
	for i := range c.Grid {
		c.Grid[i] = v(4 + i)
	}
	return c
}

// step certifies the weights that came in, and moves those of machines that are not done.
func (p *ascendPhase) step(ctx context.Context, s *ascendState, all *tally, round jobs.Round) (jobs.Next, error) {
	if s.ended == 1 {
		return p.close(ctx, &s.training, all.written, round)
	}
	if err := all.check(s.machines()); err != nil {
		return jobs.Next{}, err
	}
	if all.moves.Len() != len(s.now) || all.courses.Len() != courseSums*s.machines() {
		return jobs.Next{}, jobs.Malformed("a tally of %d weights, not %d", all.moves.Len(), len(s.now))
	}
	s.own()
	s.last, s.steps, s.drift = slices.Clone(s.last), slices.Clone(s.steps), slices.Clone(s.drift)
	s.beyond, s.terms = slices.Clone(s.beyond), slices.Clone(s.terms)
	s.rounds++
	s.longest = max(s.longest, all.terms)
	var facts jobs.Facts
	for k := range s.proofs {
		if s.steps[k] = 0; s.done[k] == 1 {
			continue
		}
		w, standing := s.row(s.now, k), all.standing(k)
		of := w
		if s.given == 1 {
			of = make([]float64, len(w)) // all coefficients are 0
		}
		if err := s.certify(k, dual.Certify(s.loss, w, of, standing, s.drift[k]), standing); err != nil {
			return jobs.Next{}, err
		}
		s.bound(k, w, of, standing, s.drift[k])
		s.facts(&facts, k, standing)
		p.move(s, k, standing, all)
	}
	s.given = 0
	return p.next(&s.training, ascendName, s, facts, round)
}

// move goes along the course of a machine, or ends it: where the gap is small enough, or nothing moves any more.
func (p *ascendPhase) move(s *ascendState, k int, standing dual.Standing, all *tally) {
	now, last := s.row(s.now, k), s.row(s.last, k)
	if s.given == 1 {
		clear(now) // of which the coefficients, all 0, are
	}
	moves, course := floats(all.moves, k*s.stride(), s.stride()), all.course(k)
	step := course.Step(s.loss, now, moves)
	if s.proofs[k].Relative() <= p.Params.Tol || (step == 0 && s.beyond[k] == 0 && s.given == 0) {
		s.done[k] = 1
		return
	}
	for j, v := range moves {
		last[j] = float64(step * v)
		now[j] += last[j]
	}
	s.steps[k], s.drift[k] = step, course.Drift(s.drift[k], standing, now, step)
	// A short step says that the blocks went too far (O'Donoghue and Candes, "Adaptive restart for accelerated gradient
	// schemes", Foundations of Computational Mathematics 15, 2015).
	if step < 0.5 || s.given == 1 {
		s.restart(k)
	} else {
		s.accelerate(k)
	}
}
