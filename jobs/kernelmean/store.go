package kernelmean

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// Arrays of a base.
const (
	baseWidth   = "base.width"   // I64 scalar
	baseClass   = "base.class"   // I32 [rows]
	baseWeights = "base.weights" // F32 [rows], where rows have weights
	baseDense   = "base.dense"   // F32 [rows, width]
	baseIndptr  = "base.indptr"  // I64 [rows+1], of sparse rows
	baseIndices = "base.indices" // I32
	baseValues  = "base.values"  // F32
)

// maxSparseWidth bounds the memory of a sparse row that is spread out.
const maxSparseWidth = 4 << 20

func (b *base) put(a jobs.Arrays) {
	jobs.PutScalar(a, baseWidth, int64(b.width))
	jobs.Put(a, baseClass, b.class)
	if b.weights != nil {
		jobs.Put(a, baseWeights, b.weights)
	}
	if !b.isSparse() {
		jobs.Put(a, baseDense, b.dense, b.rows(), b.width)
		return
	}
	indptr := make([]int64, len(b.sparse.Indptr))
	for i, e := range b.sparse.Indptr {
		indptr[i] = int64(e)
	}
	jobs.Put(a, baseIndptr, indptr)
	jobs.Put(a, baseIndices, b.sparse.Indices)
	jobs.Put(a, baseValues, b.sparse.Values)
}

// readSpace reads the space of a state; a sparse one that is too wide to be spread out is a
// *protocol.Fault of CodeInputLimit.
func readSpace(a jobs.Arrays) (*features.Space, error) {
	space, err := features.ReadSpace(a)
	if err != nil {
		return nil, err
	}
	if space.Sparse && space.Width > maxSparseWidth {
		return nil, protocol.InputFault(protocol.CodeInputLimit,
			"sparse vectors of width %d; kernels spread rows out and take widths up to %d", space.Width,
			maxSparseWidth).
			WithHint("Choose fewer terms (features.text.max_features), or hash columns before the job.")
	}
	return space, nil
}

// baseOf reads the rows of a space.
func baseOf(a jobs.Arrays, space *features.Space) (*base, error) {
	b, err := readBase(a)
	if err != nil {
		return nil, err
	}
	if b.width != space.Width || b.isSparse() != space.Sparse {
		return nil, jobs.Malformed("a base of width %d, sparse: %v, in a space of width %d, sparse: %v", b.width, b.isSparse(), space.Width, space.Sparse)
	}
	for i, y := range b.class {
		if y < 0 || int(y) >= space.Labels.Len() {
			return nil, jobs.Malformed("row %d of the base is of class %d of %d", i, y, space.Labels.Len())
		}
	}
	return b, nil
}

// readBase reads rows, in time linear in their bytes; what put would not have written is a
// *protocol.Fault of CodeCorrupt.
func readBase(a jobs.Arrays) (*base, error) {
	width, err := jobs.GetScalar[int64](a, baseWidth)
	if err != nil {
		return nil, err
	}
	if width < 0 || width > math.MaxInt32 {
		return nil, jobs.Malformed("a base of width %d", width)
	}
	b := &base{width: int(width)}
	if b.class, err = jobs.Get[int32](a, baseClass); err != nil {
		return nil, err
	}
	if _, ok := a[baseWeights]; ok {
		if b.weights, err = jobs.Get[float32](a, baseWeights, b.rows()); err != nil {
			return nil, err
		}
		for i, w := range b.weights {
			if !(w >= 0 && w-w == 0) {
				return nil, jobs.Malformed("row %d of the base weighs %v", i, w)
			}
		}
	}
	if _, ok := a[baseIndptr]; ok {
		return b, b.readSparse(a)
	}
	if b.dense, err = jobs.Get[float32](a, baseDense, b.rows(), b.width); err != nil {
		return nil, err
	}
	return b, finite(b.dense)
}

func (b *base) readSparse(a jobs.Arrays) error {
	indptr, err := jobs.Get[int64](a, baseIndptr, b.rows()+1)
	if err != nil {
		return err
	}
	b.sparse = dataset.Sparse{Width: b.width, Indptr: make([]int, len(indptr))}
	if b.sparse.Indices, err = jobs.Get[int32](a, baseIndices); err != nil {
		return err
	}
	if b.sparse.Values, err = jobs.Get[float32](a, baseValues, len(b.sparse.Indices)); err != nil {
		return err
	}
	for i, e := range indptr {
		if i == 0 && e != 0 || i > 0 && e < indptr[i-1] || e > int64(len(b.sparse.Indices)) {
			return jobs.Malformed("row %d of the base ends at entry %d", i, e)
		}
		b.sparse.Indptr[i] = int(e)
	}
	if indptr[b.rows()] != int64(len(b.sparse.Indices)) {
		return jobs.Malformed("the rows of the base do not span their entries")
	}
	for i := range b.rows() {
		indices, _ := b.sparse.Row(i)
		for e, j := range indices {
			if j < 0 || int(j) >= b.width || e > 0 && j <= indices[e-1] {
				return jobs.Malformed("row %d of the base: columns do not ascend below %d", i, b.width)
			}
		}
	}
	return finite(b.sparse.Values)
}

func finite(values []float32) error {
	for i, v := range values {
		if v-v != 0 {
			return jobs.Malformed("value %d of the base is %v", i, v)
		}
	}
	return nil
}
