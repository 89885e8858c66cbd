package knn

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// nBounds is how many deviations are counted beside eps.
const nBounds = len(pairBounds)

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

// Fields lists the counts of pairs, and their extremes: +Inf and -Inf of none.
func (d *distortion) Fields(f *jobs.Fields) {
	counts := slices.Clone(d.counts[:])
	jobs.List(f, "pairs.within", &counts, len(d.counts))
	if f.Reading() {
		copy(d.counts[:], counts)
	}
	jobs.Tuple(f, "pairs.range", &d.min, &d.max)
}

// recall compares the lists of sampled queries with exact ones.
type recall struct {
	params     *Projection
	queries    int64
	exact, hit int64 // neighbors that are exact, and those of them that were found
	pairs      distortion
}

func (r *recall) add(root *partial) error {
	if !root.measures() || root.params.Projection == nil {
		return nil
	}
	if r.params == nil {
		r.params = root.params.Projection
		r.pairs = newDistortion(r.params.Eps)
	}
	r.pairs.plus(root.pairs)
	r.queries += int64(len(root.rows))
	return root.sampledLists(func(exact, found []neighbor) error {
		r.exact += int64(len(exact))
		r.hit += hits(exact, found)
		return nil
	})
}

// sampledLists visits the exact list of each sampled query, and the one that was found.
func (p *partial) sampledLists(visit func(exact, found []neighbor) error) error {
	exact, found := p.exact.rows, p.found.rows
	if len(p.rows) != len(exact) {
		return jobs.Malformed("%d lists of %d sampled queries", len(exact), len(p.rows))
	}
	for i, row := range p.rows {
		if row < 0 || row >= int64(len(found)) {
			return jobs.Malformed("the sampled query %d is not one of %d", row, len(found))
		}
		if err := visit(exact[i], found[row]); err != nil {
			return err
		}
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

// measuredMetric names what a projection cost.
const measuredMetric = "projection.measured"

// Figures show how the decisions about queries with labels fell, and what a projection cost.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	figures, err := evaluation.Figures(nil, metrics)
	if err != nil {
		return nil, err
	}
	for _, metric := range metrics {
		if metric.Name == bayesMetric {
			figure, err := bayesFigure(metric.Value)
			if err != nil {
				return nil, jobs.Malformed("the metric %q cannot be read: %v", metric.Name, err)
			}
			figures = append(figures, figure)
		}
		if metric.Name == collisionsMetric {
			found, err := collisionFigures(metric.Value)
			if err != nil {
				return nil, jobs.Malformed("the metric %q cannot be read: %v", metric.Name, err)
			}
			figures = append(figures, found...)
		}
		if metric.Name != measuredMetric {
			continue
		}
		var m Measured
		if err := json.Unmarshal(metric.Value, &m); err != nil {
			return nil, jobs.Malformed("the metric %q cannot be read: %v", metric.Name, err)
		}
		figures = append(figures, m.figure())
	}
	return figures, nil
}

func (m Measured) figure() jobs.Figure {
	table := &jobs.FigureTable{Columns: []string{"eps", "pairs within 1 ± eps"}}
	for _, w := range m.Within {
		table.Rows = append(table.Rows,
			[]string{fmt.Sprintf("%.4g", w.Eps), fmt.Sprintf("%.2f %%", float64(100*w.Share))})
	}
	return jobs.Figure{Title: "What the projection cost", Table: table,
		Caption: fmt.Sprintf("Recall of the exact lists %.2f %% on %d sampled queries. "+
			"Squared distances of %d sampled pairs, after by before: %.4g to %.4g.",
			float64(100*m.Recall), m.Queries, m.Pairs, m.Min, m.Max)}
}
