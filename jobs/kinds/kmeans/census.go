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
	plane     *sampling.Sample // records of two columns, see draw; nil of others
	spread    *spread          // nil unless indices are wanted
	energy    *sums.Exact      // sum of w times the energies, see responder; nil unless soft
	parts     parts.List       // of the assignments
	distances parts.List       // nil unless they are written
	shares    parts.List       // of responsibilities; nil unless they are written
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

// addEnergies takes in rows whose responsibilities were just computed.
func (t *census) addEnergies(c chunk, soft *responder) {
	for i, energy := range soft.energies {
		t.energy.Add(0, float64(c.Weight(i)*energy))
	}
}

// freeEnergy is that of the final centers; 0 unless soft.
func (t *census) freeEnergy() float64 {
	if t.energy == nil {
		return 0
	}
	return t.energy.Float(0) / 2
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
	if f.Has("plane.size", t.plane != nil) {
		sampling.Fields(f, "plane", &t.plane)
	}
	if f.Has("spread.distance", t.spread != nil) {
		jobs.Make(f, &t.spread).fields(f, k)
	}
	if f.Has("energy", t.energy != nil) {
		jobs.Make(f, &t.energy).Fields(f, "energy")
		f.Require(t.energy.Len() == 1, "%d sums of energies", t.energy.Len())
	}
	t.parts.Fields(f)
	if f.Has(distancesFolder+".size", t.distances != nil) {
		t.distances.FieldsAs(f, distancesFolder)
	}
	if f.Has(responsibilitiesFolder+".size", t.shares != nil) {
		t.shares.FieldsAs(f, responsibilitiesFolder)
	}
}

// plus adds the census to the right.
func (t *census) plus(right *census) (_ *census, err error) {
	if err := t.sample.Merge(right.sample); err != nil {
		return nil, err
	}
	if t.plane != nil && right.plane != nil {
		if err := t.plane.Merge(right.plane); err != nil {
			return nil, err
		}
	}
	t.parts = append(t.parts, right.parts...)
	t.distances = append(t.distances, right.distances...)
	t.shares = append(t.shares, right.shares...)
	if t.energy != nil && right.energy != nil {
		if err := sums.Join(&t.energy, right.energy); err != nil {
			return nil, err
		}
	}
	return t, cmp.Or(sums.Join(&t.weight, right.weight), sums.Join(&t.cost, right.cost),
		sums.Into(&t.records, right.records), sums.Into(&t.labels, right.labels), t.spread.join(right.spread))
}
