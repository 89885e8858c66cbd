package knn

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/evaluation"
)

// measuredMetric names what a projection cost.
const measuredMetric = "projection.measured"

// Figures show how the decisions about queries with labels fell, and what a projection cost.
func Figures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	figures, err := evaluation.Figures(metrics)
	if err != nil {
		return nil, err
	}
	for _, metric := range metrics {
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
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%.4g", w.Eps), fmt.Sprintf("%.2f %%", float64(100*w.Share))})
	}
	return jobs.Figure{Title: "What the projection cost", Table: table,
		Caption: fmt.Sprintf("Recall of the exact lists %.2f %% on %d sampled queries. Squared distances of %d sampled pairs, after by before: %.4g to %.4g.",
			float64(100*m.Recall), m.Queries, m.Pairs, m.Min, m.Max)}
}
