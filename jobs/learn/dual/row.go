package dual

// Row is the vector of a record: values at some columns, or at all where Index is nil, and in the column after the last
// the number that the bias is the weight of; 0 for no bias.
type Row struct {
	Index  []int32
	Values []float32
	Bias   float64
}

// Terms is how many products Dot adds up.
func (x Row) Terms() int { return len(x.Values) + 1 }

// Dot returns <w, x>, the products added up in the order of the columns, in float64. Weights have a column more than
// the vectors.
func (x Row) Dot(w []float64) float64 {
	sum := 0.0
	if x.Index == nil {
		for j, v := range x.Values {
			sum += float64(w[j] * float64(v))
		}
	} else {
		for e, j := range x.Index {
			sum += float64(w[j] * float64(x.Values[e]))
		}
	}
	return sum + float64(w[len(w)-1]*x.Bias)
}

// AddTo adds a times x to w.
func (x Row) AddTo(w []float64, a float64) {
	if x.Index == nil {
		for j, v := range x.Values {
			w[j] += float64(a * float64(v))
		}
	} else {
		for e, j := range x.Index {
			w[j] += float64(a * float64(x.Values[e]))
		}
	}
	w[len(w)-1] += float64(a * x.Bias)
}

// Square returns |x|^2.
func (x Row) Square() float64 {
	sum := 0.0
	for _, v := range x.Values {
		sum += float64(float64(v) * float64(v))
	}
	return sum + float64(x.Bias*x.Bias)
}

// SquareOf returns |w|^2.
func SquareOf(w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += float64(v * v)
	}
	return sum
}
