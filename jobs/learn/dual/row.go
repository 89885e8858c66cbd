package dual

import "github.com/gram-compute/gram/kernelops"

// Row is the vector of a record: its values, at the columns of Index or at all if Index is nil, and one column more,
// whose weight is the bias: Bias is the number in it, 0 without a bias.
type Row struct {
	Index  []int32
	Values []float32
	Bias   float64
	Ops    *kernelops.Set // nil for the generic one
}

var generic = kernelops.Generic()

func (x Row) ops() *kernelops.Set {
	if x.Ops == nil {
		return generic
	}
	return x.Ops
}

// Terms is how many products Dot adds up.
func (x Row) Terms() int { return len(x.Values) + 1 }

// Dot returns <w, x>, in float64, added up as kernelops.Set.MixedDot does. Weights have a column more than the vectors.
func (x Row) Dot(w []float64) float64 {
	if x.Index == nil {
		return x.ops().Mixed.Dot(w[:len(w)-1], x.Values) + float64(w[len(w)-1]*x.Bias)
	}
	return x.ops().Mixed.SparseDot(x.Index, x.Values, w) + float64(w[len(w)-1]*x.Bias)
}

// DotBefore is Dot for a caller whose next row, soon, is elsewhere in memory: it may be prefetched.
func (x Row) DotBefore(w []float64, soon Row) float64 {
	if x.Index == nil {
		return x.Dot(w)
	}
	return x.ops().Mixed.SparseDotBefore(x.Index, x.Values, w, soon.Index, soon.Values) + float64(w[len(w)-1]*x.Bias)
}

// AddTo adds a times x to w.
func (x Row) AddTo(w []float64, a float64) {
	if x.Index == nil {
		x.ops().Mixed.Axpy(w[:len(w)-1], x.Values, a)
	} else {
		values := x.Values[:len(x.Index)]
		for e, j := range x.Index {
			w[uint32(j)] += float64(a * float64(values[e]))
		}
	}
	w[len(w)-1] += float64(a * x.Bias)
}

// AddToBoth adds a times x to v and b times x to w, as AddTo does, but reads a sparse row once. v and w must not share
// memory.
func (x Row) AddToBoth(v, w []float64, a, b float64) {
	if x.Index == nil {
		x.AddTo(v, a)
		x.AddTo(w, b)
		return
	}
	values := x.Values[:len(x.Index)]
	w = w[:len(v)]
	for e, j := range x.Index {
		value := float64(values[e])
		v[uint32(j)] += float64(a * value)
		w[uint32(j)] += float64(b * value)
	}
	v[len(v)-1] += float64(a * x.Bias)
	w[len(w)-1] += float64(b * x.Bias)
}

// Spread writes all numbers of the row, that of the bias last, and returns them.
func (x Row) Spread(into []float64) []float64 {
	clear(into)
	if x.Index == nil {
		for j, v := range x.Values {
			into[j] = float64(v)
		}
	} else {
		for e, j := range x.Index {
			into[j] = float64(x.Values[e])
		}
	}
	into[len(into)-1] = x.Bias
	return into
}

// Square returns |x|^2, added up as Dot is.
func (x Row) Square() float64 { return x.ops().Mixed.Square(x.Values) + float64(x.Bias*x.Bias) }

// SquareOf returns |w|^2.
func SquareOf(w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += float64(v * v)
	}
	return sum
}
