package knn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// Folders of a graph, besides indicesFolder and distancesFolder: the arguments of scipy.sparse.csr_matrix, of one
// dimension, and the ids of the rows. The entries of a row are in the order of its list; their columns do not ascend.
const (
	csrData       = "csr-data"    // float32: the distances
	csrIndices    = "csr-indices" // int64: the numbers of neighbors, which are never the record itself
	csrEnds       = "csr-indptr"  // int64: 0, and where each row ends
	recordsFolder = "records"     // row, id; where records have ids
)

// graphOutput turns finished lists into arrays, a tree after the other.
type graphOutput struct {
	*plan
	in          *index
	begun       bool
	rows, edges int64
	ranges      ranges
}

// Decide takes the lists of one tree.
func (o *graphOutput) Decide(ctx context.Context, t pairwise.Tree, root *partial) error {
	if n := root.found.queries(); n != len(t.Queries) {
		return jobs.Malformed("%d lists of %d queries", n, len(t.Queries))
	}
	rows, err := o.gather(t, root)
	if err != nil {
		return err
	}
	if t.Names != nil {
		table := parts.Table{{Name: "row", Ints: t.Queries}, {Name: "id", Texts: t.Names}}
		if err := t.Write(ctx, recordsFolder, parts.CSV, nil, table); err != nil {
			return err
		}
	}
	k := o.graph.K
	for _, out := range []struct {
		folder string
		array  parts.Array
	}{
		{indicesFolder, parts.Array{Name: "neighbor", Width: k, Ints: rows.indices}},
		{distancesFolder, parts.Array{Name: "distance", Width: k, Singles: rows.distances}},
		{csrEnds, parts.Array{Name: "end", Ints: rows.ends}},
		{csrIndices, parts.Array{Name: "neighbor", Ints: rows.edges}},
		{csrData, parts.Array{Name: "distance", Singles: rows.data}},
	} {
		if err := t.WriteArray(ctx, out.folder, out.array); err != nil {
			return err
		}
	}
	return nil
}

// graphRows are the rows of a tree, in both forms.
type graphRows struct {
	indices, edges, ends []int64
	distances, data      []float32
}

func (o *graphOutput) gather(t pairwise.Tree, root *partial) (*graphRows, error) {
	n, listed := len(t.Queries), o.graph.listed()
	r := &graphRows{make([]int64, 0, n*o.graph.K), make([]int64, 0, n*listed), make([]int64, 0, n+1),
		make([]float32, 0, n*o.graph.K), make([]float32, 0, n*listed)}
	if !o.begun {
		o.begun, r.ends = true, append(r.ends, 0)
	}
	for q, row := range root.found.rows {
		if len(row) != listed {
			return nil, jobs.Malformed("a list of %d neighbors, not %d", len(row), listed)
		}
		if o.graph.Self {
			r.indices, r.distances = append(r.indices, t.Queries[q]), append(r.distances, 0)
		}
		for rank, near := range row {
			id, distance := near.id, o.params.Metric.distance(near.key)
			if root.names != nil {
				id = root.names.numbers[id]
			}
			if !(distance >= 0) || math.IsInf(float64(float32(distance)), 1) {
				return nil, tooFar(t.Queries[q], id, distance)
			}
			r.indices, r.distances = append(r.indices, id), append(r.distances, float32(distance))
			r.edges, r.data = append(r.edges, id), append(r.data, float32(distance))
			o.ranges.add(rank, listed, distance)
		}
		o.rows, o.edges = o.rows+1, o.edges+int64(listed)
		r.ends = append(r.ends, o.edges)
	}
	return r, nil
}

// tooFar refuses a distance that float32 does not hold.
func tooFar(row, neighbor int64, distance float64) error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"row %d has record %d as a neighbor at distance %v; the arrays are of float32, up to %v", row, neighbor,
		distance, math.MaxFloat32).WithHint("Scale the columns (params.features.scale).")
}

// Metrics count the rows and edges, and say how long these are.
func (o *graphOutput) Metrics() ([]jobs.Metric, error) {
	metrics := []jobs.Metric{jobs.CountMetric("graph.rows", o.rows), jobs.CountMetric("graph.columns", o.in.records),
		jobs.CountMetric("graph.edges", o.edges)}
	if o.edges == 0 {
		return metrics, nil
	}
	distances, err := o.ranges.metric(o.rows)
	return append(metrics, distances), err
}

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
