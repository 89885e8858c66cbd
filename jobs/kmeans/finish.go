package kmeans

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/jobs/sampling"
	"github.com/gram-compute/gram/kernelops"
)

const finishName = "finish"

// assignmentsFolder is where assignments go, beside the model.
const assignmentsFolder = "assignments"

// finishPhase looks at the training records once more, with the final centres.
type finishPhase struct{ job }

func (p *finishPhase) Name() string { return finishName }

// census is what one leaf, or all, say of the final centres.
type census struct {
	records []int64   // of each cluster
	weight  []float64 // of each cluster
	cost    []float64 // of each cluster: sum of w |x - mu|^2
	labels  []int64   // records by label and cluster, row-major; empty without labels
	sample  *sampling.Sample
	parts   parts.List
}

func newCensus(k, labels, sample int) *census {
	return &census{records: make([]int64, k), weight: make([]float64, k), cost: make([]float64, k),
		labels: make([]int64, labels*k), sample: sampling.New(max(1, sample))}
}

// Map counts one leaf and writes its assignments.
func (p *finishPhase) Map(ctx context.Context, a jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	s, err := readState(a)
	if err != nil {
		return nil, nil, err
	}
	near := newAssigner(ops, s.best.centers, origin(s.space))
	k := len(s.best.centers) / s.space.Width
	total, rows := newCensus(k, s.space.Labels.Len(), p.params.SilhouetteSample), newAssignments()
	race := sampling.NewRace(p.seed, "kmeans/silhouette")
	err = p.leaf(ctx, s.space, leaf, true, func(c chunk) error {
		if err := near.assign(c); err != nil {
			return err
		}
		for i := range c.ids {
			total.add(c, near, i)
			if p.params.SilhouetteSample > 0 {
				total.sample.Offer(race.Time(c.ids[i], c.weight(i), total.sample.Limit()), c.ids[i], c.x.Row(i))
			}
			if p.params.Assignments {
				rows.add(c.ids[i], near.index[i], distance(near.sqDist[i], p.cosine()))
			}
		}
		return nil
	})
	if err == nil && p.params.Assignments {
		total.parts, err = parts.Write(ctx, leaf.Emit, assignmentsFolder, leaf.Index, parts.CSV, rows.table())
	}
	return total.arrays(), nil, err
}

// add counts one row.
func (t *census) add(c chunk, near *assigner, i int) {
	j, w := int(near.index[i]), c.weight(i)
	t.records[j]++
	t.weight[j] += w
	t.cost[j] += float64(w * near.sqDist[i])
	if label := int(c.class[i]); label >= 0 {
		t.labels[label*len(t.records)+j]++
	}
}

func (t *census) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	jobs.Put(a, "records", t.records)
	jobs.Put(a, "weight", t.weight)
	jobs.Put(a, "cost", t.cost)
	jobs.Put(a, "labels", t.labels)
	t.sample.Put(a, "silhouette")
	t.parts.Put(a)
	return a
}

func readCensus(a jobs.Arrays) (*census, error) {
	r := jobs.ArrayReader{Arrays: a}
	t := &census{records: jobs.ReadArray[int64](&r, "records"), labels: jobs.ReadArray[int64](&r, "labels")}
	t.weight, t.cost = jobs.ReadArray[float64](&r, "weight", len(t.records)), jobs.ReadArray[float64](&r, "cost", len(t.records))
	if r.Err != nil {
		return nil, r.Err
	}
	var err error
	if t.sample, err = sampling.Read(a, "silhouette"); err != nil {
		return nil, err
	}
	t.parts, err = parts.ReadList(a)
	return t, err
}

// Merge adds two neighbours.
func (p *finishPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	l, err := readCensus(left)
	if err != nil {
		return nil, err
	}
	r, err := readCensus(right)
	if err != nil {
		return nil, err
	}
	t := &census{parts: append(l.parts, r.parts...), sample: l.sample}
	t.sample.Merge(r.sample)
	if t.weight, err = sum(l.weight, r.weight); err != nil {
		return nil, err
	}
	if t.cost, err = sum(l.cost, r.cost); err != nil {
		return nil, err
	}
	if len(l.labels) != len(r.labels) {
		return nil, jobs.Malformed("counts of %d and %d labels and clusters", len(l.labels), len(r.labels))
	}
	t.records, t.labels = sumCounts(l.records, r.records), sumCounts(l.labels, r.labels)
	return t.arrays(), nil
}

// sumCounts adds element by element; the lengths are equal.
func sumCounts(left, right []int64) []int64 {
	total := make([]int64, len(left))
	for i, n := range left {
		total[i] = n + right[i]
	}
	return total
}

// Step makes the model.
func (p *finishPhase) Step(ctx context.Context, a jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	only, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	root, err := readCensus(only)
	if err != nil {
		return jobs.Next{}, err
	}
	s, err := readState(a)
	if err != nil {
		return jobs.Next{}, err
	}
	m := newModel(p.params, s, root)
	if p.params.SilhouetteSample > 0 {
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
	return jobs.Next{Done: true, State: m.arrays(), Metrics: metrics}, err
}
