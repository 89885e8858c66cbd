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

func (p *newtonPhase) phase() jobs.Phase {
	return jobs.MapReduce[*newtonState, *bends]{
		Name: newtonName, State: jobs.Load[newtonState], Partial: func() *bends { return new(bends) },
		Carry: p.measure, Merge: (*bends).plus, Step: p.step, Gathers: p.gathers,
		Rounds: p.mostRounds(p.Params.Solver != ascendName),
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
	l.after = held{centers: make(carried, 0, len(l.before.centers)), alpha: make(carried, 0, len(l.before.alpha))}
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
	s.longest = max(s.longest, all.terms) // none are of machines that are done
	var facts jobs.Facts
	for k := range s.proofs {
		if s.moves[k] = 0; s.done[k] == 1 {
			continue
		}
		standing, of := all.standing(k), floats(all.of, k*s.stride(), s.stride())
		now := dual.Certify(s.loss, s.row(s.now, k), of, standing, standing.Drift(of))
		if err := s.certify(k, now, standing); err != nil {
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
