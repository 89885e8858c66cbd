package kmeans

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// move sets each center to the mean of its records; for cosine, to the direction of their sum. A center without
// records stays, and is dropped or refused if the policy says so; s.empty lists those that stay.
func (j job) move(s *state, root *totals) error {
	width := s.space.Width
	if root.Sums.Len() != len(s.centers) || root.Width != width {
		return jobs.Malformed("sums of %d numbers for centers of %d", root.Sums.Len(), len(s.centers))
	}
	centers := slices.Clone(s.centers)
	s.empty = nil
	for c, weight := range root.Weight.Floats() {
		center := centers[c*width : (c+1)*width]
		if !(weight > 0) {
			s.empty = append(s.empty, int32(c))
			continue
		}
		mean := make([]float64, width)
		root.Mean(c, mean)
		if j.cosine() {
			unit(mean, width)
		}
		if !j.cosine() || !zero(mean) { // opposite rows have no direction together
			copy(center, mean)
		}
	}
	s.centers = centers
	return j.applyEmpty(s)
}

// applyEmpty does what the policies drop and error say.
func (j job) applyEmpty(s *state) error {
	width := s.space.Width
	switch {
	case len(s.empty) == 0:
	case j.params.Empty == emptyError:
		return protocol.EmptyFault(
			"round %d of %s left %d of %d clusters without records", s.round+1,
			j.roundTitle(), len(s.empty), len(s.centers)/width).
			WithHint("Choose a smaller k, or another policy than error for params.empty.")
	case j.params.Empty == emptyDrop:
		s.centers, s.empty = s.filled(), nil
	}
	return nil
}

const refillName = "lloyd.refill"

// refillPhase moves empty centers to the records farthest from the other centers, one each, farthest first. That
// never raises J: no record need leave its center.
type refillPhase struct{ job }

func (p *refillPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *farthest]{
		Name: refillName, State: jobs.Load[state], Partial: func() *farthest { return new(farthest) },
		Map: p.find, Merge: (*farthest).plus, Step: p.move, Rounds: jobs.Most(p.mostRounds() - 1),
	}.Phase()
}

// farthest are the records farthest from the centers that have records.
type farthest struct{ *sampling.Sample }

// Fields lists the records.
func (t *farthest) Fields(f *jobs.Fields) { sampling.Fields(f, "farthest", &t.Sample) }

// plus keeps the farthest of two neighbors.
func (t *farthest) plus(right *farthest) (*farthest, error) {
	return t, t.Merge(right.Sample)
}

// find finds the farthest records of one leaf.
func (p *refillPhase) find(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*farthest, error) {
	if len(s.empty) == 0 {
		return nil, jobs.Malformed("a refill without empty clusters")
	}
	near, sample := newAssigner(ops, s.filled(), origin(s.space)), sampling.New(len(s.empty))
	err := p.leaf(ctx, s.space, leaf, true, func(c chunk) error {
		if err := near.assign(c); err != nil {
			return err
		}
		for i, id := range c.IDs {
			if d := near.sqDist[i]; d > 0 && c.Weight(i) > 0 && !(p.cosine() && zero(c.X.Row(i))) {
				sample.Offer(-d, id, c.X.Row(i))
			}
		}
		return nil
	})
	return &farthest{sample}, err
}

// filled returns the centers that have records.
func (s *state) filled() []float64 {
	var filled []float64
	for c := 0; c < len(s.centers)/s.space.Width; c++ {
		if _, empty := slices.BinarySearch(s.empty, int32(c)); !empty {
			filled = append(filled, s.centers[c*s.space.Width:(c+1)*s.space.Width]...)
		}
	}
	return filled
}

// move moves the empty centers, as far as there are records that differ from every center and from each other.
func (p *refillPhase) move(_ context.Context, s *state, sample *farthest, _ jobs.Round) (jobs.Next, error) {
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
	name := fmt.Sprintf("%s%s.%03d.refilled", runPrefix(s.restart), p.roundName(), s.round)
	metric := jobs.CountMetric(name, int64(moved))
	return jobs.Next{Phase: p.roundName(), State: jobs.ArraysOf(s), Metrics: []jobs.Metric{metric}}, nil
}
