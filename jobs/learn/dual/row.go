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

// lanes is how many sums a product of vectors has, so that vector instructions can add it up to the same bits.
const lanes = 16

// Dot returns <w, x>, in float64: the products of the values at e, e+16, e+32 and so on are a sum for each e below 16,
// and these are added up by halves. Weights have a column more than the vectors.
func (x Row) Dot(w []float64) float64 {
	var sums [lanes]float64
	if x.Index == nil {
		dotDense(&sums, x.Values, w)
	} else {
		dotSparse(&sums, x.Index, x.Values, w)
	}
	return joined(&sums) + float64(w[len(w)-1]*x.Bias)
}

func dotDense(sums *[lanes]float64, values []float32, w []float64) {
	w = w[:len(values)]
	for len(values) >= lanes {
		v, u := (*[lanes]float32)(values), (*[lanes]float64)(w)
		for e := range sums {
			sums[e] += float64(u[e] * float64(v[e]))
		}
		values, w = values[lanes:], w[lanes:]
	}
	for e, v := range values {
		sums[e] += float64(w[e] * float64(v))
	}
}

func dotSparse(sums *[lanes]float64, index []int32, values []float32, w []float64) {
	index = index[:len(values)]
	for len(values) >= lanes {
		v, at := (*[lanes]float32)(values), (*[lanes]int32)(index)
		for e := range sums {
			sums[e] += float64(w[at[e]] * float64(v[e]))
		}
		values, index = values[lanes:], index[lanes:]
	}
	for e, v := range values {
		sums[e] += float64(w[index[e]] * float64(v))
	}
}

// joined adds up the sums.
func joined(sums *[lanes]float64) float64 {
	for half := lanes / 2; half > 0; half /= 2 {
		for e := range half {
			sums[e] += sums[e+half]
		}
	}
	return sums[0]
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
func (x Row) Square() float64 {
	var sums [lanes]float64
	for e, v := range x.Values {
		sums[e%lanes] += float64(float64(v) * float64(v))
	}
	return joined(&sums) + float64(x.Bias*x.Bias)
}

// SquareOf returns |w|^2.
func SquareOf(w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += float64(v * v)
	}
	return sum
}
