package knn

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// distancesMetric names how far the neighbors of each rank are.
const distancesMetric = "graph.distances"

// ranges are the distances of all rows by rank, the nearest neighbor first.
type ranges struct {
	Least []float64 `json:"least"`
	Mean  []float64 `json:"mean"`
	Most  []float64 `json:"most"`

	sum *sums.Exact
}

// add takes in the distance of a row's neighbor.
func (r *ranges) add(rank, ranks int, distance float64) {
	if r.sum == nil {
		r.sum, r.Least, r.Most = sums.NewExact(ranks), make([]float64, ranks), make([]float64, ranks)
		for i := range r.Least {
			r.Least[i] = inf
		}
	}
	r.Least[rank], r.Most[rank] = min(r.Least[rank], distance), max(r.Most[rank], distance)
	r.sum.Add(rank, distance)
}

// metric is the figures of some rows.
func (r *ranges) metric(rows int64) (jobs.Metric, error) {
	r.Mean = r.sum.Floats()
	for i := range r.Mean {
		r.Mean[i] /= float64(rows)
	}
	return jobs.NewMetric(distancesMetric, r)
}

// GraphFigures show how far the neighbors of each rank are.
func GraphFigures(_ jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	for _, metric := range metrics {
		if metric.Name != distancesMetric {
			continue
		}
		var r ranges
		if err := json.Unmarshal(metric.Value, &r); err != nil {
			return nil, fmt.Errorf("metric %s: %w", distancesMetric, err)
		}
		return []jobs.Figure{{
			Title: "Distance by rank",
			Caption: "The least, the mean and the greatest distance of a record to its nearest neighbor, to its second " +
				"nearest, and so on. A steep rise of the mean suggests groups of as many records.",
			Lines: &jobs.LineChart{X: "rank of the neighbor", Y: "distance", Series: []jobs.Series{
				jobs.SeriesOf("greatest", r.Most), jobs.SeriesOf("mean", r.Mean), jobs.SeriesOf("least", r.Least),
			}},
		}}, nil
	}
	return nil, nil
}
