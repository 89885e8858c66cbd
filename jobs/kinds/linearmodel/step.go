package linearmodel

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
)

// found is what all leaves found of one machine.
func (t *tally) found(machine int) (dual.Standing, dual.Course) {
	v := func(i int) float64 { return t.sums.Float(machine*tallySums + i) }
	return dual.Standing{Loss: v(sumLoss), Slope: v(sumSlope), Bend: v(sumBend), Linear: v(sumLinear),
			Quadratic: v(sumQuadratic), Reach: v(sumReach), Records: t.records, Terms: t.terms,
			Violation: t.violation[machine]},
		dual.Course{Gain: v(sumGain), Cross: v(sumCross), Bend: v(sumCourseBend), Travel: v(sumTravel),
			Room: t.room[machine]}
}

// step certifies the weights that came in, and moves those of machines that are not done.
func (p *ascendPhase) step(_ context.Context, s *state, all *tally, round jobs.Round) (jobs.Next, error) {
	if len(all.room) != s.machines() || all.moves.Len() != len(s.now) || all.sums.Len() != tallySums*s.machines() {
		return jobs.Next{}, jobs.Malformed("a tally of %d machines, not %d", len(all.room), s.machines())
	}
	s.own()
	s.rounds++
	var facts jobs.Facts
	for k := range s.proofs {
		if s.done[k] == 1 {
			continue
		}
		standing, course := all.found(k)
		p.certify(s, k, standing)
		p.move(s, k, standing, course, all)
		s.facts(&facts, k, standing)
	}
	finished := !slices.Contains(s.done, 0) || s.rounds >= int64(p.Params.MaxRounds)
	if finished {
		facts.Add("linear.rounds", s.rounds)
		facts.Add("linear.gap", s.relative())
	}
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	if !finished {
		return jobs.Next{Phase: ascendName, Trees: []int{round.Plan.Blocks}, State: jobs.ArraysOf(s),
			Metrics: metrics}, nil
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
}

// certify keeps the weights of a machine if none before had a lower primal objective, and what is proved.
func (p *ascendPhase) certify(s *state, k int, standing dual.Standing) {
	now := dual.Certify(s.row(s.now, k), standing, s.drift[k])
	if s.rounds == 1 {
		s.proofs[k] = now // of weights of zero, as the model has them
		return
	}
	better := false
	if s.proofs[k], better = s.proofs[k].Better(now); better {
		copy(s.row(s.weights, k), s.row(s.now, k))
	}
}

// move goes along the course of a machine, or ends it: where the gap is small enough, or nothing moves any more.
func (p *ascendPhase) move(s *state, k int, standing dual.Standing, course dual.Course, all *tally) {
	s.step[k] = 0
	if s.proofs[k].Relative() <= p.Params.Tol {
		s.done[k] = 1
		return
	}
	now, moves := s.row(s.now, k), make([]float64, s.stride())
	for j := range moves {
		moves[j] = all.moves.Float(k*s.stride() + j)
	}
	step := course.Step(now, moves)
	if step == 0 {
		s.done[k] = 1
		return
	}
	for j, v := range moves {
		now[j] += float64(step * v)
	}
	s.step[k], s.drift[k] = step, course.Drift(s.drift[k], standing, now, step)
}

// facts tell how far a machine is.
func (s *state) facts(f *jobs.Facts, k int, standing dual.Standing) {
	name := fmt.Sprintf("linear.round.%05d.", s.rounds)
	if s.machines() > 1 {
		name += fmt.Sprintf("%03d.", k)
	}
	f.Add(name+"gap", s.proofs[k].Relative())
	f.Add(name+"violation", standing.Violation)
}

// own gives the state memory that no array shares.
func (s *state) own() {
	s.weights, s.now, s.proofs = slices.Clone(s.weights), slices.Clone(s.now), slices.Clone(s.proofs)
	s.step, s.drift, s.done = slices.Clone(s.step), slices.Clone(s.drift), slices.Clone(s.done)
}
