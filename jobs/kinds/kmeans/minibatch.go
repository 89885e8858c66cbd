package kmeans

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of mini-batches.
const (
	presetBatch   = 1024
	maxBatch      = 1 << 16
	maxBatchCells = 1 << 24 // numbers in a batch
	passCells     = 1 << 20 // numbers in the batches of a pass, if it has more than one
	passBatches   = 32
)

// batchPhase draws the batches of several rounds in one pass over the records, and goes through these rounds in its
// step: Algorithm 1 of Sculley, "Web-scale k-means clustering", WWW 2010.
type batchPhase struct{ job }

func (p *batchPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *batches]{
		Name: p.roundName(), State: jobs.Load[state], Partial: func() *batches { return new(batches) },
		Map: p.draw, Merge: (*batches).plus, Step: p.turn, Rounds: jobs.Most(p.mostRounds()),
	}.Phase()
}

// batches are the records drawn for some rounds.
type batches struct{ samples []*sampling.Sample }

// Fields lists the batches.
func (b *batches) Fields(f *jobs.Fields) {
	n := len(b.samples)
	f.Int("batches", &n, 1, passBatches)
	if f.Reading() {
		b.samples = make([]*sampling.Sample, n)
	}
	for i := range b.samples {
		sampling.Fields(f, fmt.Sprintf("batch.%02d", i), &b.samples[i])
	}
}

// plus keeps of each batch what two neighbors would draw first.
func (b *batches) plus(right *batches) (*batches, error) {
	if len(b.samples) != len(right.samples) {
		return nil, jobs.Malformed("%d batches and %d", len(b.samples), len(right.samples))
	}
	for i, s := range right.samples {
		if err := b.samples[i].Merge(s); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// ahead is how many rounds the next pass draws for. No model depends on it.
func (p *batchPhase) ahead(s *state) int {
	fit := passCells / (*p.params.BatchSize * s.space.Width)
	return max(1, min(p.params.MaxRounds-s.round, passBatches, fit))
}

// draw draws from one leaf. A record's chance to be in the batch of a round depends on its identity, the round and its
// weight alone.
func (p *batchPhase) draw(ctx context.Context, s *state, leaf jobs.Leaf, _ *kernelops.Set) (*batches, error) {
	b, races := &batches{}, []*sampling.Race{}
	for i := range p.ahead(s) {
		b.samples = append(b.samples, sampling.New(*p.params.BatchSize))
		races = append(races, sampling.NewRace(p.seed, fmt.Sprintf("kmeans/minibatch/%d", s.round+i)))
	}
	return b, p.leaf(ctx, s.space, leaf, s.round > 0, func(c chunk) error {
		for i, race := range races {
			for at, id := range c.IDs {
				b.samples[i].Offer(race.Time(id, c.Weight(at), b.samples[i].Limit()), id, c.X.Row(at))
			}
		}
		return nil
	})
}

// turn goes through the rounds that were drawn for.
func (p *batchPhase) turn(ctx context.Context, s *state, root *batches, _ jobs.Round) (jobs.Next, error) {
	k := len(s.centers) / s.space.Width
	if len(root.samples) != p.ahead(s) {
		return jobs.Next{}, jobs.Malformed("%d batches were drawn for %d rounds", len(root.samples), p.ahead(s))
	}
	if s.counts == nil {
		s.counts = make([]int64, k)
	}
	s.centers = append([]float64{}, s.centers...)
	s.counts = append([]int64{}, s.counts...)
	var metrics []jobs.Metric
	for _, sample := range root.samples {
		if err := ctx.Err(); err != nil {
			return jobs.Next{}, err
		}
		if err := p.move(s, sample.Draws()); err != nil {
			return jobs.Next{}, err
		}
		s.round++
		metric, err := jobs.NewMetric(fmt.Sprintf("%s.%03d.%s", p.roundName(), s.round, p.objective()), s.distortion)
		if err != nil {
			return jobs.Next{}, err
		}
		metrics = append(metrics, metric)
	}
	if s.round < p.params.MaxRounds {
		return jobs.Next{Phase: p.roundName(), State: jobs.ArraysOf(s), Metrics: metrics}, nil
	}
	metrics = append(metrics, jobs.CountMetric(p.roundName()+".rounds", int64(s.round)))
	s = &state{space: s.space, best: run{centers: canonical(s.centers, s.space.Width), distortion: s.distortion,
		rounds: s.round, stop: stopRounds}}
	return jobs.Next{Phase: p.lastPhase(), State: jobs.ArraysOf(s), Metrics: metrics}, nil
}

// move is one round: each record of the batch counts for its nearest center, and moves it by 1 over the count so far.
// Those moves in a row come to (count so far * center + sum of the records) / new count, in any order of the records.
func (p *batchPhase) move(s *state, draws []sampling.Draw) error {
	width := s.space.Width
	if len(draws) == 0 {
		return protocol.EmptyFault("no training record weighs more than 0").
			WithHint("Give some records a weight above 0.")
	}
	ops, k := kernelops.Best(), len(s.centers)/width
	near, adder, cost := newAssigner(ops, s.centers, origin(s.space)), sums.NewAdder(k, width, ops), sums.NewExact(1)
	x := kernelops.NewMatrix(len(draws), width)
	c := chunk{X: x}
	for i, d := range draws {
		if len(d.Row) != width {
			return jobs.Malformed("a record of a batch has %d numbers, not %d", len(d.Row), width)
		}
		copy(x.Row(i), d.Row)
		c.IDs = append(c.IDs, d.ID)
	}
	if err := near.assign(c); err != nil {
		return err
	}
	adder.Dense(x, near.index, nil)
	cost.AddAll(0, near.sqDist)
	s.distortion = cost.Float(0) / 2
	rows := adder.Rows()
	for j := range k {
		if n := rows.Weight.Float(j); n > 0 {
			p.pull(s, j, rows, n)
		}
	}
	return nil
}

// pull moves center j by the n records of a batch that are nearest to it.
func (p *batchPhase) pull(s *state, j int, rows *sums.Rows, n float64) {
	width := s.space.Width
	moved := make([]float64, width)
	s.counts[j] += int64(n) //lint:checked a count of records
	for d, v := range s.centers[j*width : (j+1)*width] {
		sum := rows.Sums.Float(j*width + d)
		if s.counts[j] == int64(n) { //lint:checked the same: the first records leave nothing of where the center began
			moved[d] = sum / n
		} else {
			moved[d] = v + (sum-float64(n*v))/float64(s.counts[j])
		}
	}
	if p.cosine() {
		unit(moved, width)
	}
	if !p.cosine() || !zero(moved) {
		copy(s.centers[j*width:], moved)
	}
}
