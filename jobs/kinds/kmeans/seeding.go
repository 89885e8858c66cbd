package kmeans

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// seedPhase draws centers to begin from, in as many rounds as the way to begin takes.
type seedPhase struct{ job }

func (p *seedPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *seedDraw]{
		Name: p.seedName(), State: jobs.Load[state], Partial: func() *seedDraw { return new(seedDraw) },
		Carry: p.draw, Merge: (*seedDraw).plus, Step: p.turn, Rounds: jobs.Most(p.mostSeedRounds()),
	}.Phase()
}

// draws is how many records a round draws at most; 0 for the last round of kmeans||, which weighs.
func (j job) draws(round int) int {
	switch {
	case j.params.Init == initRandom:
		return j.params.K
	case round == 0 || j.params.Init == initFarthest:
		return 1
	case j.params.Init == initPlusPlus:
		return j.trials()
	case round <= j.params.InitRounds:
		return int(math.Ceil(float64(j.params.K) * j.params.Oversampling)) //lint:checked at most 2^20 * 100
	}
	return 0
}

// trials is how many candidates compete to become the next seed: 2 + ln k.
func (j job) trials() int {
	return 2 + int(fmath.Log(float64(j.params.K))) //lint:checked k is from 1 to 2^20
}

// draw draws from one leaf, or weighs the candidates by what is nearest to them.
func (p *seedPhase) draw(
	ctx context.Context, s *state, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (*seedDraw, jobs.Arrays, error) {
	near, err := newNearness(s, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	draw := newSeedDraw(p.job, s, ops, len(near.sqDist))
	err = p.leaf(ctx, s.space, leaf, s.round > 0, func(c chunk) error {
		sqDists, seeds, err := near.next(c)
		if err != nil {
			return err
		}
		draw.add(c, sqDists, seeds)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	draw.end()
	return draw, near.arrays(), near.checkEnd()
}

// turn takes the records drawn, and begins Lloyd's rounds when there are enough.
func (p *seedPhase) turn(ctx context.Context, s *state, root *seedDraw, _ jobs.Round) (_ jobs.Next, err error) {
	if err := root.holdTo(s); err != nil {
		return jobs.Next{}, err
	}
	round0, drawn := s.round, p.take(s, root)
	s.round++
	seeds := len(s.seeds) / s.space.Width
	switch {
	case p.draws(round0) == 0 && root.weights.Len() != seeds:
		return jobs.Next{}, jobs.Malformed("%d candidates have %d weights", seeds, root.weights.Len())
	case p.draws(round0) == 0:
		s.centers, err = p.reduce(ctx, s, root.weights.Floats())
	case p.params.Init == initParallel:
		return jobs.Next{Phase: p.seedName(), State: jobs.ArraysOf(s)}, p.checkSeeds(min(seeds, 1), 1)
	case seeds < p.params.K && drawn > 0 && p.params.Init != initRandom:
		return jobs.Next{Phase: p.seedName(), State: jobs.ArraysOf(s)}, nil
	default:
		s.centers, err = wide(s.seeds), p.checkSeeds(seeds, p.params.K)
	}
	if err != nil {
		return jobs.Next{}, err
	}
	return p.beginLloyd(s, root.potential.Float(0))
}

// holdTo holds the draws of a round against its state.
func (d *seedDraw) holdTo(s *state) error {
	if want := max(1, len(s.candidates)/s.space.Width); len(d.branches) != want {
		return jobs.Malformed("draws for %d candidates of %d", len(d.branches), want)
	}
	for _, b := range d.branches {
		for _, draw := range b.sample.Draws() {
			if len(draw.Row) != s.space.Width {
				return jobs.Malformed("a row of %d numbers was drawn in a space of %d", len(draw.Row), s.space.Width)
			}
		}
	}
	return nil
}

// take makes seeds, or candidates, of what a round drew, and returns how many records that were. kmeans++ draws
// candidates from its second round on; from the third on, the best of those before becomes a seed.
func (p *seedPhase) take(s *state, root *seedDraw) (drawn int) {
	from, width := 0, s.space.Width
	greedy := p.params.Init == initPlusPlus && s.round > 0
	s.newest = 0
	switch {
	case len(s.candidates) > 0:
		from = root.best()
		s.seeds, s.newest = append(s.seeds, s.candidates[from*width:(from+1)*width]...), 1
	case greedy:
		s.largest = root.largest
	}
	s.candidates = nil
	draws := root.branches[from].sample.Draws()
	for _, d := range draws {
		if greedy {
			s.candidates = append(s.candidates, d.Row...)
		} else {
			s.seeds = append(s.seeds, d.Row...)
			s.newest++
		}
	}
	return len(draws)
}

// beginLloyd turns the finished seeding into the first state of phase lloyd. The metrics tell its cost in passes over
// the data, and the sum of w D^2 that the last of them saw.
func (p *seedPhase) beginLloyd(s *state, potential float64) (jobs.Next, error) {
	name := runPrefix(s.restart) + "init."
	potentialMetric, err := jobs.NewMetric(name+"potential", potential)
	if err != nil {
		return jobs.Next{}, err
	}
	metrics := []jobs.Metric{jobs.CountMetric(name+"passes", int64(s.round)),
		jobs.CountMetric(name+"candidates", int64(len(s.seeds)/s.space.Width)), potentialMetric}
	if p.cosine() {
		unit(s.centers, s.space.Width)
	}
	s.seeds, s.candidates, s.newest, s.round, s.largest = nil, nil, 0, 0, 0
	return jobs.Next{Phase: p.roundName(), State: jobs.ArraysOf(s), Metrics: metrics}, nil
}

// checkSeeds refuses a data set with fewer distinct records than centers are wanted.
func (j job) checkSeeds(found, want int) error {
	if found >= want {
		return nil
	}
	hint := "Choose a smaller k."
	if j.params.Init != initRandom {
		hint = "Choose a smaller k, or init random, which allows equal records."
	}
	return protocol.EmptyFault("only %d of %d centers can be drawn: "+
		"no other training record differs from them and has a weight above 0", found, want).WithHint(hint)
}

func wide(rows []float32) []float64 {
	w := make([]float64, len(rows))
	for i, v := range rows {
		w[i] = float64(v)
	}
	return w
}

// runPrefix begins the names of the metrics of a restart; the first has none.
func runPrefix(restart int) string {
	if restart == 0 {
		return ""
	}
	return fmt.Sprintf("restart.%d.", restart)
}
