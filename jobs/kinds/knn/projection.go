package knn

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// projectionPurpose keys the matrix.
const projectionPurpose = "knn/projection"

// johnsonLindenstrauss is the least number of dimensions that the theorem 2.1 of Dasgupta and
// Gupta asks for: with it, some projection of m points, and a random one with a
// probability of at least 1/m, keeps all their squared distances to a factor of 1 ± eps.
func johnsonLindenstrauss(m int64, eps float64) float64 {
	half, third := float64(eps*eps)/2, float64(float64(eps*eps)*eps)/3
	return math.Ceil(4 * fmath.Log(float64(max(m, 2))) / (half - third))
}

// chooseDims chooses the projection of a search with a number of queries, if there is one.
func (p *plan) chooseDims(in *index, queries int64) ([]jobs.Metric, error) {
	r := p.params.Projection
	if r == nil {
		return nil, nil
	}
	dims := float64(r.Dims)
	if r.Dims == 0 {
		m := queries // which are of the base themselves
		if p.Own == nil {
			m += in.records
		}
		dims = johnsonLindenstrauss(m, r.Eps)
		if dims > maxDims || int64(dims) >= int64(in.vectors.Width) { //lint:checked at most maxDims
			return nil, protocol.SpecFault(
				"spec.params: projection.eps %v asks for %v dimensions of %d points, which have %d: "+
					"leave projection out, or give a larger eps or dims", r.Eps, dims, m, in.vectors.Width)
		}
	}
	in.projected = newProjected(int(dims), p.seed) //lint:checked at most maxDims
	in.queries = queries
	return []jobs.Metric{jobs.CountMetric("projection.dims", int64(in.dims))}, nil
}

// projected is the projection of rows; the zero value stands for none.
type projected struct {
	dims    int
	seed    uint64
	matrix  kernelops.Projection
	queries int64 // records of the data set of queries; of a state alone
}

func newProjected(dims int, seed uint64) projected {
	return projected{dims: dims, seed: seed, matrix: kernelops.NewProjection(seed, projectionPurpose, dims)}
}

// Fields lists what makes the matrix.
func (r *projected) Fields(f *jobs.Fields) {
	f.Int("projection.dims", &r.dims, 1, maxDims)
	jobs.Scalar(f, "projection.seed", &r.seed)
	if f.Reading() {
		*r = newProjected(r.dims, r.seed)
	}
}

// A slice of sparse rows that is spread out to be projected.
const (
	sliceRows = 8192
	sliceCols = 512
)

// project returns the rows of p after projection, with what belongs to them. The matrix is made anew
// for each call, and once for every sliceRows of sparse rows.
func (r projected) project(ops *kernelops.Set, p *points) *points {
	to := *p
	to.Rows = rows.New(rows.Dense, r.dims)
	to.N, to.Dense = p.N, make([]float32, p.N*r.dims)
	if p.N == 0 {
		return &to
	}
	dst := to.Tile(0, p.N, nil)
	if p.Form == rows.Dense {
		ops.Project(r.matrix, dst, p.Tile(0, p.N, nil), 0)
		return &to
	}
	slice := kernelops.NewMatrix(min(p.N, sliceRows), min(p.Width, sliceCols))
	at := slices.Clone(p.Sparse.Indptr[:p.N]) // of each row, the first entry not yet spread out
	for from := 0; from < p.N; from += sliceRows {
		end := min(p.N, from+sliceRows)
		for col := 0; col < p.Width; col += sliceCols {
			x := slice.RowRange(0, end-from)
			x.Cols = min(sliceCols, p.Width-col)
			p.spread(x, from, col, at)
			ops.Project(r.matrix, dst.RowRange(from, end), x, col)
		}
	}
	return &to
}

// spread sets x to the columns from col of the rows from first, whose next entries are at.
func (p *points) spread(x kernelops.Matrix, first, col int, at []int) {
	for i := range x.Rows {
		row := x.Row(i)
		clear(row)
		e, end := at[first+i], p.Sparse.Indptr[first+i+1]
		for ; e < end && int(p.Sparse.Indices[e]) < col+x.Cols; e++ {
			row[int(p.Sparse.Indices[e])-col] = p.Sparse.Values[e]
		}
		at[first+i] = e
	}
}
