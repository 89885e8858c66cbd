package kmeans

import (
	"cmp"
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

const finishName = "finish"

// assignmentsFolder is where assignments go, beside the model.
const assignmentsFolder = "assignments"

// finishPhase looks at the training records once more, with the final centers.
type finishPhase struct{ job }

func (p *finishPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *census]{
		Name: finishName, State: jobs.Load[state], Partial: func() *census { return new(census) },
		Map: p.count, Merge: (*census).plus, Step: p.model,
	}.Phase()
}

// census is what one leaf, or all, say of the final centers.
type census struct {
	records []int64     // of each cluster
	weight  *sums.Exact // of each cluster
	cost    *sums.Exact // of each cluster: sum of w |x - mu|^2
	labels  []int64     // records by label and cluster, row-major; empty without labels
	sample  *sampling.Sample
	parts   parts.List
}

func newCensus(k, labels, sample int) *census {
	return &census{records: make([]int64, k), weight: sums.NewExact(k), cost: sums.NewExact(k),
		labels: make([]int64, labels*k), sample: sampling.New(max(1, sample))}
}

// count counts one leaf and writes its assignments.
func (p *finishPhase) count(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*census, error) {
	near := newAssigner(ops, s.best.centers, origin(s.space))
	k := len(s.best.centers) / s.space.Width
	total, rows := newCensus(k, s.space.Labels.Len(), p.params.SilhouetteSample), newAssignments(p.way)
	race := sampling.NewRace(p.seed, "kmeans/silhouette")
	err := p.leaf(ctx, s.space, leaf, true, func(c chunk) error {
		if err := near.assign(c); err != nil {
			return err
		}
		for i := range c.IDs {
			total.add(c, near, i)
			if p.params.SilhouetteSample > 0 {
				total.sample.Offer(race.Time(c.IDs[i], c.Weight(i), total.sample.Limit()), c.IDs[i], c.X.Row(i))
			}
			if p.params.Assignments {
				rows.add(c.IDs[i], near.index[i], distance(near.sqDist[i], p.cosine()))
			}
		}
		return nil
	})
	if err == nil && p.params.Assignments {
		total.parts, err = parts.Write(ctx, leaf.Emit, assignmentsFolder, leaf.Index, parts.CSV, rows.table())
	}
	return total, err
}

// add counts one row.
func (t *census) add(c chunk, near *assigner, i int) {
	j, w := int(near.index[i]), c.Weight(i)
	t.records[j]++
	t.weight.Add(j, w)
	t.cost.Add(j, float64(w*near.sqDist[i]))
	if label := int(c.Class[i]); label >= 0 {
		t.labels[label*len(t.records)+j]++
	}
}

// Fields lists the census.
func (t *census) Fields(f *jobs.Fields) {
	jobs.List(f, "records", &t.records)
	jobs.Make(f, &t.weight).Fields(f, "weight")
	jobs.Make(f, &t.cost).Fields(f, "cost")
	k := len(t.records)
	f.Require(t.weight.Len() == k && t.cost.Len() == k, "%d clusters with %d weights and %d costs", k, t.weight.Len(),
		t.cost.Len())
	jobs.List(f, "labels", &t.labels)
	sampling.Fields(f, "silhouette", &t.sample)
	t.parts.Fields(f)
}

// plus adds the census to the right.
func (t *census) plus(right *census) (_ *census, err error) {
	if err := t.sample.Merge(right.sample); err != nil {
		return nil, err
	}
	t.parts = append(t.parts, right.parts...)
	return t, cmp.Or(sums.Join(&t.weight, right.weight), sums.Join(&t.cost, right.cost),
		sums.Into(&t.records, right.records), sums.Into(&t.labels, right.labels))
}

// model makes the model.
func (p *finishPhase) model(ctx context.Context, s *state, root *census, round jobs.Round) (jobs.Next, error) {
	k := len(s.best.centers) / s.space.Width
	if len(root.records) != k || len(root.labels) != k*s.space.Labels.Len() {
		return jobs.Next{}, jobs.Malformed("%d clusters and %d labels have %d sizes and %d of labels",
			k, s.space.Labels.Len(), len(root.records), len(root.labels))
	}
	m := newModel(p.params, s, root)
	if p.params.SilhouetteSample > 0 {
		var err error
		if m.silhouette, err = p.silhouette(ctx, m, root.sample.Draws()); err != nil {
			return jobs.Next{}, err
		}
	}
	if p.params.Assignments {
		if err := p.writeIndex(ctx, round.Emit, root.parts); err != nil {
			return jobs.Next{}, err
		}
	}
	metrics, err := m.metrics()
	return jobs.Next{Done: true, State: jobs.ArraysOf(m), Metrics: metrics}, err
}

// assignments gathers where each record of a leaf went, by column.
type assignments struct {
	ids       *parts.Identities
	clusters  []int64
	distances []float64
}

func newAssignments(way dataset.Way) *assignments {
	return &assignments{parts.NewIdentities(way), []int64{}, []float64{}}
}

func (r *assignments) add(id dataset.Identity, cluster int32, distance float64) {
	r.ids.Add(id)
	r.clusters, r.distances = append(r.clusters, int64(cluster)), append(r.distances, distance)
}

func (r *assignments) table() parts.Table {
	return append(r.ids.Columns(), parts.Column{Name: "cluster", Ints: r.clusters},
		parts.Column{Name: "distance", Floats: r.distances})
}

// writeIndex emits assignments/index.json.
func (p *finishPhase) writeIndex(ctx context.Context, emit jobs.Emit, list parts.List) error {
	_, err := parts.WriteIndex(ctx, emit, assignmentsFolder,
		parts.Index{Format: parts.CSV, Columns: newAssignments(p.way).table().Names(), Parts: list})
	return err
}
