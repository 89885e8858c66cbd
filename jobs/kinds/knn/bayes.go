package knn

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
)

// bayesMetric names the estimate of the Bayes risk.
const bayesMetric = "neighbors.bayes_risk"

// BayesRisk is the metric "neighbors.bayes_risk": an estimate of the least error that any rule can have on these
// features, from that of the one nearest neighbor (Cover and Hart, "Nearest neighbor pattern classification", IEEE
// Transactions on Information Theory 13(1), 1967, theorem 1 and section VI).
//
// With M classes and an infinite base whose records, and the queries, are drawn independently alike, the error R of the
// nearest neighbor and the Bayes risk R* have R* <= R <= R* (2 - M/(M-1) R*), so
//
//	(M-1)/M (1 - sqrt(1 - M/(M-1) R)) <= R* <= R
//
// R is measured, of a finite base: it has a sampling error, and usually lies above its limit, the more so the more
// columns the records have.
type BayesRisk struct {
	Queries int64 `json:"queries"` // with a label and a neighbor
	Errors  int64 `json:"errors"`  // whose nearest neighbor has another label
	Classes int   `json:"classes"`
	// Rate is R, with its interval of 95 % of Wilson (1927).
	Rate     float64 `json:"rate"`
	RateLow  float64 `json:"rate_low"`
	RateHigh float64 `json:"rate_high"`
	// Least and Most bound R* by Rate.
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// nearest counts how the one nearest neighbor decides.
type nearest struct{ queries, errors int64 }

// risks reports whether a job estimates the Bayes risk: where the nearest neighbor is one by a distance and not only
// within a radius, and surely the nearest.
func (p Params) risks() bool {
	return p.Mode == modeClassify && p.K != nil && !p.Metric.signed() && p.Index != indexLSH
}

// add looks at the list of query i.
func (n *nearest) add(t pairwise.Tree, i int, row []neighbor, labels jobs.Strings) {
	truth, ok := t.Class(i)
	if !ok || len(row) == 0 {
		return
	}
	n.queries++
	if string(truth) != string(labels.At(int(row[0].target))) { //lint:checked the number of a label
		n.errors++
	}
}

// risk is the estimate, of one query and two classes at least.
func (n nearest) risk(classes int) BayesRisk {
	of := float64(n.queries)
	r := BayesRisk{Queries: n.queries, Errors: n.errors, Classes: classes, Rate: float64(n.errors) / of}
	const z = 1.959963984540054 // of 95 %
	r.RateLow, r.RateHigh = wilson(r.Rate, of, z, z*z)
	chance := float64(classes-1) / float64(classes) // what guessing among classes alike errs by
	r.Least, r.Most = float64(chance*(1-math.Sqrt(max(0, 1-r.Rate/chance)))), r.Rate
	return r
}

// metric is the estimate as a metric; none where nothing was asked, or there is one class.
func (n nearest) metric(classes int) ([]jobs.Metric, error) {
	if n.queries == 0 || classes < 2 {
		return nil, nil
	}
	m, err := jobs.NewMetric(bayesMetric, n.risk(classes))
	return []jobs.Metric{m}, err
}

func bayesFigure(value json.RawMessage) (jobs.Figure, error) {
	var r BayesRisk
	if err := json.Unmarshal(value, &r); err != nil {
		return jobs.Figure{}, err
	}
	percent := func(v float64) string { return fmt.Sprintf("%.2f %%", float64(100*v)) }
	return jobs.Figure{Title: "The least error that is possible",
		Table: &jobs.FigureTable{Columns: []string{"error of the nearest neighbor", "Bayes risk at least", "at most"},
			Rows: [][]string{{percent(r.Rate), percent(r.Least), percent(r.Most)}}},
		Caption: fmt.Sprintf("Of %d queries with labels %d have a nearest neighbor with another label: %s, with 95 %% "+
			"confidence %s to %s. If the base were infinite, and all records were drawn independently from one "+
			"distribution, no rule on these features could err less than the Bayes risk, which the error of the "+
			"nearest neighbor bounds from both sides (Cover and Hart, 1967). The base is finite, so both bounds are "+
			"estimates, and are usually too high.",
			r.Queries, r.Errors, percent(r.Rate), percent(r.RateLow), percent(r.RateHigh))}, nil
}
