package knn

import (
	"github.com/gram-compute/gram/jobs"
)

// Arrays of what a projection was measured to cost.
const (
	sampledRows = "sample.rows"   // I64: queries with exact lists; every leaf of a tree has the same
	pairCounts  = "pairs.within"  // I64: pairs, and those within each bound
	pairRange   = "pairs.range"   // F64 [2]: least and largest ratio; +Inf and -Inf of none
	nBounds     = len(pairBounds) // beside eps
)

// pairBounds are the deviations from 1 that are counted beside eps itself.
var pairBounds = [...]float64{0.05, 0.1, 0.2, 0.3, 0.5}

// distortion counts pairs by the ratio of their squared distances after and before projection.
// Its parts are integers and extremes, so that no grouping changes them.
type distortion struct {
	eps      float64
	counts   [nBounds + 2]int64 // pairs, within eps, within each of pairBounds
	min, max float64
}

func newDistortion(eps float64) distortion { return distortion{eps: eps, min: inf, max: -inf} }

func (d *distortion) add(after, before float64) {
	if before == 0 {
		return // and so is after
	}
	ratio := after / before
	d.counts[0]++
	d.min, d.max = min(d.min, ratio), max(d.max, ratio)
	within := func(i int, eps float64) {
		if ratio >= 1-eps && ratio <= 1+eps {
			d.counts[i]++
		}
	}
	within(1, d.eps)
	for i, eps := range pairBounds {
		within(i+2, eps)
	}
}

func (d *distortion) plus(e distortion) {
	for i, n := range e.counts {
		d.counts[i] += n
	}
	d.min, d.max = min(d.min, e.min), max(d.max, e.max)
}

func (d *distortion) put(a jobs.Arrays) {
	counts := d.counts
	jobs.Put(a, pairCounts, counts[:])
	jobs.Put(a, pairRange, []float64{d.min, d.max})
}

func getDistortion(a jobs.Arrays) (d distortion, err error) {
	counts, err := jobs.Get[int64](a, pairCounts, len(d.counts))
	if err != nil {
		return d, err
	}
	extremes, err := jobs.Get[float64](a, pairRange, 2)
	if err != nil {
		return d, err
	}
	copy(d.counts[:], counts)
	d.min, d.max = extremes[0], extremes[1]
	return d, nil
}

// mergeMeasures merges exact lists and pairs.
func (p *plan) mergeMeasures(out, left, right jobs.Arrays) error {
	if err := mergeLists(out, left, right, exactLists, p.params.rule(), p.params.Metric, false); err != nil {
		return err
	}
	d, err := getDistortion(left)
	if err != nil {
		return err
	}
	e, err := getDistortion(right)
	if err != nil {
		return err
	}
	d.plus(e)
	d.put(out)
	return nil
}

// recall compares the lists of sampled queries with exact ones.
type recall struct {
	params     *Projection
	queries    int64
	exact, hit int64 // neighbors that are exact, and those of them that were found
	pairs      distortion
}

func (r *recall) add(p *plan, root jobs.Arrays, found *lists) error {
	if p.params.Projection == nil || p.params.Counts {
		return nil
	}
	if r.params == nil {
		r.params, r.pairs = p.params.Projection, newDistortion(p.params.Projection.Eps)
	}
	exact, err := getLists(root, exactLists, p.params.rule(), p.params.Metric, false)
	if err != nil {
		return err
	}
	rows, err := jobs.Get[int64](root, sampledRows, len(exact.rows))
	if err != nil {
		return err
	}
	pairs, err := getDistortion(root)
	if err != nil {
		return err
	}
	r.pairs.plus(pairs)
	r.queries += int64(len(rows))
	for i, row := range rows {
		if row < 0 || row >= int64(len(found.rows)) {
			return jobs.Malformed("the sampled query %d is not one of %d", row, len(found.rows))
		}
		r.exact += int64(len(exact.rows[i]))
		r.hit += hits(exact.rows[i], found.rows[row])
	}
	return nil
}

// hits counts the neighbors in both lists.
func hits(a, b []neighbor) (n int64) {
	ids := make(map[int64]bool, len(a))
	for _, x := range a {
		ids[x.id] = true
	}
	for _, x := range b {
		if ids[x.id] {
			n++
		}
	}
	return n
}

// Measured is the metric "projection.measured".
type Measured struct {
	Queries int64   `json:"queries"` // searched exactly
	Recall  float64 `json:"recall"`  // share of their exact neighbors that were found; 0 of none
	Pairs   int64   `json:"pairs"`   // of points
	// Min and Max are the extremes of squared distance after over before; 0 of no pairs.
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	Within []Within `json:"within"`
}

// Within is the share of pairs whose ratio is within 1 ± Eps.
type Within struct {
	Eps   float64 `json:"eps"`
	Share float64 `json:"share"`
}

func (r *recall) report() Measured {
	m := Measured{Queries: r.queries, Pairs: r.pairs.counts[0], Within: []Within{}}
	if r.exact > 0 {
		m.Recall = float64(r.hit) / float64(r.exact)
	}
	if m.Pairs == 0 {
		return m
	}
	m.Min, m.Max = r.pairs.min, r.pairs.max
	within := func(i int, eps float64) {
		m.Within = append(m.Within, Within{eps, float64(r.pairs.counts[i]) / float64(m.Pairs)})
	}
	if r.pairs.eps > 0 {
		within(1, r.pairs.eps)
	}
	for i, eps := range pairBounds {
		within(i+2, eps)
	}
	return m
}
