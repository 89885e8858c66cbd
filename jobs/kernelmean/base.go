package kernelmean

import (
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/features"
)

// base holds training records, dense or as compressed rows.
type base struct {
	width   int
	class   []int32   // of each row
	weights []float32 // nil where every row weighs 1
	dense   []float32
	sparse  dataset.Sparse // Indptr nil where dense
}

func newBase(space *features.Space) *base {
	b := &base{width: space.Width}
	if space.Sparse {
		b.sparse = dataset.Sparse{Width: space.Width, Indptr: []int{0}, Indices: []int32{}}
	}
	return b
}

func (b *base) rows() int { return len(b.class) }

func (b *base) isSparse() bool { return b.sparse.Indptr != nil }

// bytes is the size of the rows in a model.
func (b *base) bytes() int64 {
	return 4*int64(len(b.dense)+len(b.class)+len(b.weights)+2*len(b.sparse.Values)) + 8*int64(len(b.sparse.Indptr))
}

// vectors are all rows.
func (b *base) vectors() features.Vectors {
	v := features.Vectors{Rows: b.rows(), Class: b.class, Weights: b.weights}
	if b.isSparse() {
		v.Sparse = b.sparse
		return v
	}
	v.Dense.Data, v.Dense.Rows, v.Dense.Cols, v.Dense.Stride = b.dense, b.rows(), b.width, b.width
	return v
}

// weight is what a row counts.
func (b *base) weight(row int) float64 {
	if b.weights == nil {
		return 1
	}
	return float64(b.weights[row])
}

// add appends the rows of v.
func (b *base) add(v features.Vectors) {
	b.addWeights(v.Rows, v.Weights)
	b.class = append(b.class, v.Class...)
	if !b.isSparse() {
		b.dense = append(b.dense, v.Dense.Data[:v.Rows*b.width]...)
		return
	}
	for i := range v.Rows {
		b.addSparse(v.Sparse.Row(i))
	}
}

// addWeights appends the weights of so many rows, nil for 1 each.
func (b *base) addWeights(rows int, weights []float32) {
	switch {
	case rows == 0 || b.weights == nil && weights == nil:
		return
	case b.weights == nil:
		b.weights = slices.Repeat([]float32{1}, b.rows())
	case weights == nil:
		weights = slices.Repeat([]float32{1}, rows)
	}
	b.weights = append(b.weights, weights...)
}

func (b *base) addSparse(indices []int32, values []float32) {
	b.sparse.Indices, b.sparse.Values = append(b.sparse.Indices, indices...), append(b.sparse.Values, values...)
	b.sparse.Indptr = append(b.sparse.Indptr, len(b.sparse.Values))
}

// join returns the rows of b and below them those of o.
func (b *base) join(o *base) *base {
	all := &base{width: b.width, class: slices.Clone(b.class), weights: slices.Clone(b.weights), dense: slices.Clone(b.dense)}
	if b.isSparse() {
		all.sparse = dataset.Sparse{Width: b.width, Indptr: slices.Clone(b.sparse.Indptr),
			Indices: slices.Clone(b.sparse.Indices), Values: slices.Clone(b.sparse.Values)}
	}
	all.add(o.vectors())
	return all
}

// byClass returns the rows class after class, in each class in their order.
func (b *base) byClass() *base {
	order := make([]int, b.rows())
	for i := range order {
		order[i] = i
	}
	// total order: rows differ
	slices.SortFunc(order, func(i, j int) int {
		if b.class[i] != b.class[j] {
			return int(b.class[i]) - int(b.class[j])
		}
		return i - j
	})
	sorted := &base{width: b.width, class: make([]int32, 0, len(order)), dense: make([]float32, 0, len(b.dense))}
	if b.weights != nil {
		sorted.weights = make([]float32, 0, len(order))
	}
	if b.isSparse() {
		sorted.sparse = dataset.Sparse{Width: b.width, Indptr: make([]int, 1, len(b.sparse.Indptr)),
			Indices: make([]int32, 0, len(b.sparse.Indices)), Values: make([]float32, 0, len(b.sparse.Values))}
	}
	for _, i := range order {
		sorted.class = append(sorted.class, b.class[i])
		if b.weights != nil {
			sorted.weights = append(sorted.weights, b.weights[i])
		}
		if b.isSparse() {
			sorted.addSparse(b.sparse.Row(i))
		} else {
			sorted.dense = append(sorted.dense, b.dense[i*b.width:(i+1)*b.width]...)
		}
	}
	return sorted
}

// bounds are the rows of each class, which lie side by side: class y has those from bounds[y] up to,
// not including, bounds[y+1].
func (b *base) bounds(classes int) []int {
	at := make([]int, classes+1)
	for _, y := range b.class {
		at[y+1]++
	}
	for y := range classes {
		at[y+1] += at[y]
	}
	return at
}

// classWeights are the sums of the weights of each class, in the order of the rows.
func (b *base) classWeights(classes int) []float64 {
	sums := make([]float64, classes)
	for i, y := range b.class {
		sums[y] += b.weight(i)
	}
	return sums
}
