package kmeans

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

const finishName = "finish"

// finishPhase looks at the training records once more, with the final centers.
type finishPhase struct{ job }

func (p *finishPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *census]{
		Name: finishName, State: jobs.Load[state], Partial: func() *census { return new(census) },
		Map: p.count, Merge: (*census).plus, Step: p.model,
	}.Phase()
}

// count counts one leaf and writes what is wanted of its records.
func (p *finishPhase) count(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*census, error) {
	near := newAssigner(ops, s.best.centers, origin(s.space))
	near.tree = s.best.tree
	k := len(s.best.centers) / s.space.Width
	total, out := newCensus(k, s.space.Labels.Len(), p.params.SilhouetteSample), newOutput(p.job, s, leaf)
	if p.params.Indices {
		total.spread = newSpread(k)
	}
	var soft *responder
	if p.soft() {
		soft, total.energy = newResponder(near, k, p.params.Stiffness), sums.NewExact(1)
	}
	if s.space.Width == 2 {
		total.plane = sampling.New(planePoints)
	}
	race, plane := sampling.NewRace(p.seed, "kmeans/silhouette"), sampling.NewRace(p.seed, planeMetric)
	err := p.leaf(ctx, s.space, leaf, true, func(c chunk) error {
		if err := assign(near, soft, c); err != nil {
			return err
		}
		total.add(c, near)
		if soft != nil {
			total.addEnergies(c, soft)
		}
		total.spread.add(c, near, s.means)
		total.draw(c, near, soft, plane)
		for i := range c.IDs {
			if p.params.SilhouetteSample > 0 {
				total.sample.Offer(race.Time(c.IDs[i], c.Weight(i), total.sample.Limit()), c.IDs[i], c.X.Row(i))
			}
		}
		return out.add(ctx, c, near, soft, s.best.centers)
	})
	if err == nil {
		err = out.end(ctx, total)
	}
	return total, err
}

// model makes the model.
func (p *finishPhase) model(ctx context.Context, s *state, root *census, round jobs.Round) (jobs.Next, error) {
	k := len(s.best.centers) / s.space.Width
	if len(root.records) != k || len(root.labels) != k*s.space.Labels.Len() ||
		(root.spread != nil) != p.params.Indices || (root.energy != nil) != p.soft() {
		return jobs.Next{}, jobs.Malformed("%d clusters and %d labels have %d sizes and %d of labels",
			k, s.space.Labels.Len(), len(root.records), len(root.labels))
	}
	m := newModel(p.params, s, root)
	var err error
	if p.params.SilhouetteSample > 0 {
		if err = p.silhouette(ctx, m, root.sample.Draws()); err != nil {
			return jobs.Next{}, err
		}
	}
	if p.params.Indices {
		if m.indices, err = root.spread.indices(ctx, s.means, m.weight, s.space.Width); err != nil {
			return jobs.Next{}, err
		}
	}
	if err := p.writeIndices(ctx, round.Emit, root); err != nil {
		return jobs.Next{}, err
	}
	metrics, err := p.metrics(m, root)
	return jobs.Next{Done: true, State: jobs.ArraysOf(m), Metrics: metrics}, err
}

// metrics are those of the model, and the records of its picture.
func (p *finishPhase) metrics(m *model, root *census) ([]jobs.Metric, error) {
	metrics, err := m.metrics(p.params.Indices)
	if err != nil || root.plane == nil {
		return metrics, err
	}
	points, err := planeOf(root.plane)
	if err != nil {
		return nil, err
	}
	metric, err := jobs.NewMetric(planeMetric, points)
	return append(metrics, metric), err
}
