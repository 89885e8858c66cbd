package kmeans

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/sampling"
	"github.com/gram-compute/gram/kernelops"
)

const refillName = "lloyd.refill"

// refillPhase moves empty centres to the records farthest from the other centres, one each, farthest first. That
// never raises J: no record need leave its centre.
type refillPhase struct{ job }

func (p *refillPhase) Name() string { return refillName }

// Map finds the farthest records of one leaf.
func (p *refillPhase) Map(ctx context.Context, a jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	s, err := readState(a)
	if err != nil {
		return nil, nil, err
	}
	if len(s.empty) == 0 {
		return nil, nil, jobs.Malformed("a refill without empty clusters")
	}
	near, sample := newAssigner(ops, s.filled(), origin(s.space)), sampling.New(len(s.empty))
	err = p.leaf(ctx, s.space, leaf, true, func(c chunk) error {
		if err := near.assign(c); err != nil {
			return err
		}
		for i, id := range c.ids {
			if d := near.sqDist[i]; d > 0 && c.weight(i) > 0 && !(p.cosine() && zero(c.x.Row(i))) {
				sample.Offer(-d, id, c.x.Row(i))
			}
		}
		return nil
	})
	partial := jobs.Arrays{}
	sample.Put(partial, "farthest")
	return partial, nil, err
}

// filled returns the centres that have records.
func (s *state) filled() []float64 {
	var filled []float64
	for c := 0; c < len(s.centers)/s.space.Width; c++ {
		if _, empty := slices.BinarySearch(s.empty, int32(c)); !empty {
			filled = append(filled, s.centers[c*s.space.Width:(c+1)*s.space.Width]...)
		}
	}
	return filled
}

// Merge keeps the farthest of two neighbours.
func (p *refillPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	l, err := sampling.Read(left, "farthest")
	if err != nil {
		return nil, err
	}
	r, err := sampling.Read(right, "farthest")
	if err != nil {
		return nil, err
	}
	l.Merge(r)
	a := jobs.Arrays{}
	l.Put(a, "farthest")
	return a, nil
}

// Step moves the empty centres, as far as there are records that differ from every centre and from each other.
func (p *refillPhase) Step(ctx context.Context, a jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	sample, err := sampling.Read(only, "farthest")
	if err != nil {
		return jobs.Next{}, err
	}
	s, err := readState(a)
	if err != nil {
		return jobs.Next{}, err
	}
	centers, moved, taken := slices.Clone(s.centers), 0, [][]float32{}
	for _, d := range sample.Draws() {
		if slices.ContainsFunc(taken, func(row []float32) bool { return slices.Equal(row, d.Row) }) {
			continue
		}
		copy(centers[int(s.empty[moved])*s.space.Width:], wide(d.Row))
		taken = append(taken, d.Row)
		moved++
	}
	s.centers, s.empty = centers, nil
	metric := jobs.CountMetric(fmt.Sprintf("%slloyd.%03d.refilled", runPrefix(s.restart), s.round), int64(moved))
	return jobs.Next{Phase: lloydName, State: s.arrays(), Metrics: []jobs.Metric{metric}}, nil
}
