package kernelmatrix

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// finish writes the index and ends the job.
func (p *tilesPhase) finish(
	ctx context.Context, s *state, roots iter.Seq2[*written, error], round jobs.Round,
) (jobs.Next, error) {
	space, kernel, g := s.space, s.kernel, s.grid
	var drawn *sampling.Sample
	if g.symmetric {
		drawn = p.newSample(space)
	}
	all, err := gather(roots, kernel, drawn)
	if err != nil {
		return jobs.Next{}, err
	}
	index, err := writeIndex(ctx, round.Emit, g, kernel.Kernel, all.tiles)
	if err != nil {
		return jobs.Next{}, err
	}
	m := &model{space: space, kernel: kernel, roads: *all.roads, symmetric: g.symmetric, rows: g.height(),
		columns: g.width(),
		tiles:   int64(len(all.tiles)), bytes: bytesOf(all.tiles), index: index.SHA256}
	if drawn != nil {
		if m.sample, err = newSample(kernel, space.Width, drawn.Draws()); err != nil {
			return jobs.Next{}, err
		}
	}
	metrics, err := m.metrics()
	return jobs.Next{Done: true, State: jobs.ArraysOf(m), Metrics: metrics}, err
}

// sample is the matrix of some records among themselves, in the order of the data set.
type sample struct {
	ids       []dataset.Identity // Offset is the ordinal, and Object empty, unless named
	named     bool               // of a model of an earlier release
	values    []float32          // len(ids) x len(ids)
	tolerance float64            // bounds the Frobenius norm of what float32 changed in values
}

// newSample computes the matrix of the records drawn. Any kernel set would give the same bits.
func newSample(kernel kernels.Function, width int, draws []sampling.Draw) (*sample, error) {
	n := len(draws)
	// total order: identities differ
	slices.SortFunc(draws, func(a, b sampling.Draw) int { return a.ID.Compare(b.ID) })
	s := &sample{ids: make([]dataset.Identity, n), values: make([]float32, n*n)}
	x, norms := kernelops.NewMatrix(n, width), make([]float64, n)
	for i, d := range draws {
		s.ids[i] = d.ID
		copy(x.Row(i), d.Row)
		for _, v := range d.Row {
			norms[i] += float64(float64(v) * float64(v))
		}
	}
	values := kernelops.Matrix{Data: s.values, Rows: n, Cols: n, Stride: n}
	evaluator, points := kernels.Evaluator{Ops: kernelops.Best()}, kernels.Points{}
	points.Set(kernel, evaluator.Ops, x)
	if err := evaluator.Symmetric(kernel, values, &points); err != nil {
		return nil, err
	}
	squares := 0.0
	for i := range norms {
		for j := range norms {
			b := 0.0
			switch {
			case kernel.Kind != kernelops.RBF:
				b = bound(kernel.Kernel, norms[i], norms[j], width)
			case i != j: // else exactly 1
				b = kernel.ValueError(values.Row(i)[j], &points, &points, i, j)
			}
			squares += float64(b * b)
		}
	}
	s.tolerance = min(math.Sqrt(squares), math.MaxFloat64)
	return s, nil
}

// metrics are facts that do not depend on the build; eigenvalues do, and are not among them.
func (m *model) metrics() ([]jobs.Metric, error) {
	metrics := []jobs.Metric{
		jobs.CountMetric("kernelmatrix.rows", m.rows),
		jobs.CountMetric("kernelmatrix.columns", m.columns),
		jobs.CountMetric("kernelmatrix.tiles", m.tiles),
		jobs.CountMetric("kernelmatrix.bytes", m.bytes),
	}
	if m.sample != nil {
		metrics = append(metrics, jobs.CountMetric("kernelmatrix.psd_sample", int64(len(m.sample.ids))))
	}
	roads, err := m.roads.Metrics(m.kernel, "kernelmatrix")
	return append(metrics, roads...), err
}

// written is what some neighboring leaves of a row wrote.
type written struct {
	tiles  []Tile
	sample *sampling.Sample // of the leaf on the diagonal; nil for none
	roads  *kernels.Roads   // nil for kernels without
}

// Fields lists the tiles, how their values were found, and the sample.
func (w *written) Fields(f *jobs.Fields) {
	tileFields(f, &w.tiles)
	if f.Has("sample.keys", w.sample != nil) {
		sampling.Fields(f, "sample", &w.sample) // of package sampling; only on the diagonal
	}
	kernels.PartialRoads(f, &w.roads)
}

func tileFields(f *jobs.Fields, tiles *[]Tile) {
	var names, sums jobs.Strings
	var places []int64
	for _, t := range *tiles {
		names.Append([]byte(t.Name))
		sums.Append([]byte(t.SHA256))
		places = append(places, t.Size, t.Row, t.Column, int64(t.Rows), int64(t.Columns))
	}
	f.Strings("tiles", &names)
	f.Strings("tiles.sha256", &sums)
	n := names.Len()
	f.Require(sums.Len() == n, "%d tiles with %d digests", n, sums.Len())
	jobs.List(f, "tiles.places", &places, n, 5) // size, row, column, rows, columns
	if !f.Reading() {
		return
	}
	*tiles = make([]Tile, n)
	for i := range *tiles {
		p := places[5*i:]
		f.Require(p[3] >= 1 && p[3] <= maxTile && p[4] >= 1 && p[4] <= maxTile, "a tile of %d x %d", p[3], p[4])
		(*tiles)[i] = Tile{File: jobs.File{Name: string(names.At(i)), SHA256: string(sums.At(i)), Size: p[0]},
			Row: p[1], Column: p[2], Rows: int(p[3]), Columns: int(p[4])}
	}
}

// plus lists the tiles of neighbors in a row. The sample, of the leaf on the diagonal, is in the first.
func (w *written) plus(right *written) (*written, error) {
	if right.sample != nil {
		return nil, jobs.Malformed("a sample off the diagonal")
	}
	if (w.roads == nil) != (right.roads == nil) {
		return nil, jobs.Malformed("tiles of two kernels")
	}
	w.tiles = append(w.tiles, right.tiles...)
	if w.roads != nil {
		w.roads.Add(*right.roads)
	}
	return w, nil
}

// gather gathers the tiles of all trees, how their values were found, and the samples into sample, if that is one.
func gather(roots iter.Seq2[*written, error], kernel kernels.Function, sample *sampling.Sample) (all written,
	err error) {
	all.roads = &kernels.Roads{}
	for root, err := range roots {
		if err != nil {
			return all, err
		}
		if (root.roads != nil) != kernel.HasRoads() {
			return all, jobs.Malformed("tiles of another kernel")
		}
		if root.roads != nil {
			all.roads.Add(*root.roads)
		}
		if sample != nil && root.sample != nil {
			if err := sample.Merge(root.sample); err != nil {
				return all, err
			}
		}
		all.tiles = append(all.tiles, root.tiles...)
	}
	return all, nil
}
