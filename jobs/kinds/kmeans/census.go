package kmeans

import (
	"cmp"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// census is what one leaf, or all, say of the final centers.
type census struct {
	records   []int64     // of each cluster
	weight    *sums.Exact // of each cluster
	cost      *sums.Exact // of each cluster: sum of w |x - mu|^2
	labels    []int64     // records by label and cluster, row-major; empty without labels
	sample    *sampling.Sample
	spread    *spread    // nil unless indices are wanted
	parts     parts.List // of the assignments
	distances parts.List // nil unless they are written
}

func newCensus(k, labels, sample int) *census {
	return &census{records: make([]int64, k), weight: sums.NewExact(k), cost: sums.NewExact(k),
		labels: make([]int64, labels*k), sample: sampling.New(max(1, sample))}
}

// add counts rows that were just assigned.
func (t *census) add(c chunk, near *assigner) {
	for i, nearest := range near.index {
		j, w := int(nearest), c.Weight(i)
		t.records[j]++
		t.weight.Add(j, w)
		t.cost.Add(j, float64(w*near.sqDist[i]))
		if label := int(c.Class[i]); label >= 0 {
			t.labels[label*len(t.records)+j]++
		}
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
	if f.Has("spread.distance", t.spread != nil) {
		jobs.Make(f, &t.spread).fields(f, k)
	}
	t.parts.Fields(f)
	if f.Has(distancesFolder+".size", t.distances != nil) {
		t.distances.FieldsAs(f, distancesFolder)
	}
}

// plus adds the census to the right.
func (t *census) plus(right *census) (_ *census, err error) {
	if err := t.sample.Merge(right.sample); err != nil {
		return nil, err
	}
	t.parts = append(t.parts, right.parts...)
	t.distances = append(t.distances, right.distances...)
	return t, cmp.Or(sums.Join(&t.weight, right.weight), sums.Join(&t.cost, right.cost),
		sums.Into(&t.records, right.records), sums.Into(&t.labels, right.labels), t.spread.join(right.spread))
}
