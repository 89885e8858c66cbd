package knn

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// projectionPurpose keys the matrix.
const projectionPurpose = "knn/projection"

// Arrays of a state or model whose rows are projected.
const (
	projectionDims    = "projection.dims"    // I64 scalar
	projectionSeed    = "projection.seed"    // U64 scalar
	projectionQueries = "projection.queries" // I64 scalar, of the state alone
)

// johnsonLindenstrauss is the least number of dimensions that the theorem 2.1 of Dasgupta and
// Gupta asks for: with it, some projection of m points, and a random one with a
// probability of at least 1/m, keeps all their squared distances to a factor of 1 ± eps.
func johnsonLindenstrauss(m int64, eps float64) float64 {
	half, third := float64(eps*eps)/2, float64(float64(eps*eps)*eps)/3
	return math.Ceil(4 * fmath.Log(float64(max(m, 2))) / (half - third))
}

// chooseDims writes the number of dimensions into the state.
func (p *plan) chooseDims(next *jobs.Next, queries int64) error {
	r := p.params.Projection
	if r == nil {
		return nil
	}
	s, err := readSpace(p.params, next.State)
	if err != nil {
		return err
	}
	dims := float64(r.Dims)
	if r.Dims == 0 {
		m := queries // which are of the base themselves
		if p.queries {
			m += s.records
		}
		dims = johnsonLindenstrauss(m, r.Eps)
		if dims > maxDims || int64(dims) >= int64(s.vectors.Width) { //lint:checked at most maxDims
			return protocol.SpecFault(
				"spec.params: projection.eps %v asks for %v dimensions of %d points, which have %d: "+
					"leave projection out, or give a larger eps or dims", r.Eps, dims, m, s.vectors.Width)
		}
	}
	jobs.PutScalar(next.State, projectionDims, int64(dims)) //lint:checked at most maxDims
	jobs.PutScalar(next.State, projectionSeed, p.seed)
	jobs.PutScalar(next.State, projectionQueries, queries)
	next.Metrics = append(next.Metrics, jobs.CountMetric("projection.dims", int64(dims))) //lint:checked at most maxDims
	return nil
}

// projected is the projection of rows; the zero value is none.
type projected struct {
	dims    int
	seed    uint64
	matrix  kernelops.Projection
	queries int64 // records of the data set of queries
}

func newProjected(dims int, seed uint64) projected {
	return projected{dims: dims, seed: seed, matrix: kernelops.NewProjection(seed, projectionPurpose, dims)}
}

// readProjected reads the projection of a state.
func (p *plan) readProjected(a jobs.Arrays) (projected, error) {
	if p.params.Projection == nil {
		return projected{}, nil
	}
	r, err := getProjected(a)
	if err != nil {
		return projected{}, err
	}
	r.queries, err = jobs.GetScalar[int64](a, projectionQueries)
	return r, err
}

func getProjected(a jobs.Arrays) (projected, error) {
	dims, err := jobs.GetScalar[int64](a, projectionDims)
	if err != nil {
		return projected{}, err
	}
	seed, err := jobs.GetScalar[uint64](a, projectionSeed)
	if err != nil {
		return projected{}, err
	}
	if dims < 1 || dims > maxDims {
		return projected{}, jobs.Malformed("a projection into %d dimensions", dims)
	}
	return newProjected(int(dims), seed), nil
}

func (r projected) put(a jobs.Arrays) {
	jobs.PutScalar(a, projectionDims, int64(r.dims))
	jobs.PutScalar(a, projectionSeed, r.seed)
}

// A slice of sparse rows that is spread out to be projected.
const (
	sliceRows = 8192
	sliceCols = 512
)

// project returns the rows of p after projection, with its ids and targets. The matrix is made anew
// for each call, and once for every sliceRows of sparse rows.
func (r projected) project(ops *kernelops.Set, p *points) *points {
	to := &points{rows: p.rows, width: r.dims, dense: make([]float32, p.rows*r.dims), ids: p.ids, target: p.target}
	dst := kernelops.Matrix{Data: to.dense, Rows: p.rows, Cols: r.dims, Stride: r.dims}
	if p.rows == 0 {
		return to
	}
	if p.sparse.indptr == nil {
		ops.Project(r.matrix, dst, p.tile(0, p.rows, nil), 0)
		return to
	}
	slice := kernelops.NewMatrix(min(p.rows, sliceRows), min(p.width, sliceCols))
	at := slices.Clone(p.sparse.indptr[:p.rows]) // of each row, the first entry not yet spread out
	for from := 0; from < p.rows; from += sliceRows {
		rows := min(sliceRows, p.rows-from)
		for col := 0; col < p.width; col += sliceCols {
			x := slice.RowRange(0, rows)
			x.Cols = min(sliceCols, p.width-col)
			p.spread(x, from, col, at)
			ops.Project(r.matrix, dst.RowRange(from, from+rows), x, col)
		}
	}
	return to
}

// spread sets x to the columns from col of the rows from first, whose next entries are at.
func (p *points) spread(x kernelops.Matrix, first, col int, at []int) {
	for i := range x.Rows {
		row := x.Row(i)
		clear(row)
		e, end := at[first+i], p.sparse.indptr[first+i+1]
		for ; e < end && int(p.sparse.indices[e]) < col+x.Cols; e++ {
			row[int(p.sparse.indices[e])-col] = p.sparse.values[e]
		}
		at[first+i] = e
	}
}
