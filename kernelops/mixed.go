package kernelops

// Mixed are the operations on float64 weights and rows of float32, the field Mixed of a Set.
type Mixed struct {
	vectors       bool // not the generic set
	dot           func(w []float64, x []float32) float64
	square        func(x []float32) float64
	axpy          func(dst []float64, x []float32, a float64)
	addScaledRows func(dst, x []float64, stride int, a []float64)
	products      productTile
	exps          func(x []float64) (done int) // nil in the generic set
}

func mixedGeneric() Mixed {
	return Mixed{dot: mixedDotGeneric, square: mixedSquareGeneric, axpy: mixedAxpyGeneric,
		addScaledRows: addScaledRowsGeneric, products: productGeneric()}
}

// mixedLanes is how many sums a product of mixed precision has.
const mixedLanes = 16

// Dot is the product of float64 weights with a row of float32, in float64, by 16 lanes, each product rounded
// before it is added:
//
//	var lane [16]float64
//	for j, v := range x {
//		lane[j%16] += float64(w[j] * float64(v))
//	}
//	for half := 8; half > 0; half /= 2 {
//		for e := range half {
//			lane[e] += lane[e+half]
//		}
//	}
//	return lane[0]
//
// w is at least as long as x. With n elements the error is at most (n/16 + 5) 2^-53 times the sum of |w[j] x[j]|, to
// first order and without underflow.
func (m *Mixed) Dot(w []float64, x []float32) float64 {
	w = w[:len(x)]
	if len(x) > callElements { // the lanes would have to live from call to call
		return mixedDotGeneric(w, x)
	}
	return m.dot(w, x)
}

// Square is Dot of a row with itself, whose squares float64 holds without rounding:
//
//	for j, v := range x {
//		lane[j%16] += float64(float64(v) * float64(v))
//	}
func (m *Mixed) Square(x []float32) float64 {
	if len(x) > callElements {
		return mixedSquareGeneric(x)
	}
	return m.square(x)
}

// Axpy adds a multiple of a row of float32 to float64 weights, each product rounded before it is added:
//
//	for j, v := range x {
//		dst[j] += float64(a * float64(v))
//	}
//
// dst is at least as long as x.
func (m *Mixed) Axpy(dst []float64, x []float32, a float64) {
	dst = dst[:len(x)]
	for len(x) > callElements {
		m.axpy(dst[:callElements], x[:callElements], a)
		dst, x = dst[callElements:], x[callElements:]
	}
	if len(x) > 0 {
		m.axpy(dst, x, a)
	}
}

// AddScaledRows adds multiples of the rows of a float64 matrix to dst. It is Set.AddScaled row by row, in order:
//
//	for i, f := range a {
//		for j := range dst {
//			dst[j] += float64(f * x[i*stride+j])
//		}
//	}
//
// dst overlaps neither x nor a.
func (m *Mixed) AddScaledRows(dst, x []float64, stride int, a []float64) {
	if len(a) == 0 || len(dst) == 0 {
		return
	}
	if stride < 0 || (len(a)-1)*stride+len(dst) > len(x) {
		panic("kernelops: rows have different lengths")
	}
	if overlap(dst, x) || overlap(dst, a) {
		panic("kernelops: result overlaps an input")
	}
	width := min(len(dst), callElements)
	height := callElements / width
	for j := 0; j < len(dst); j += width {
		to := min(j+width, len(dst))
		for i := 0; i < len(a); i += height {
			m.addScaledRows(dst[j:to], x[i*stride+j:], stride, a[i:min(i+height, len(a))])
		}
	}
}

// SparseDot is Dot of a sparse row (value[p] in column index[p]); p decides the lane, not the column:
//
//	for p := range index {
//		lane[p%16] += float64(w[index[p]] * float64(value[p]))
//	}
//
// Columns may repeat and come in any order. index and value have the same length. A column outside w panics as an index
// out of range.
func (m *Mixed) SparseDot(index []int32, value []float32, w []float64) float64 {
	return m.sparseDot(index, value, w, soonBytes, soonBytes)
}

// SparseDotBefore is to SparseDot what Set.SparseDotBefore is to Set.SparseDot.
func (m *Mixed) SparseDotBefore(
	index []int32, value []float32, w []float64, soonIndex []int32, soonValue []float32,
) float64 {
	if len(index) == 0 || len(value) == 0 || len(soonIndex) == 0 || len(soonValue) == 0 {
		return m.SparseDot(index, value, w)
	}
	return m.sparseDot(index, value, w, bytesTo(index, soonIndex), bytesTo(value, soonValue))
}

func (m *Mixed) sparseDot(index []int32, value []float32, w []float64, soonIndex, soonValue int) float64 {
	if len(index) != len(value) {
		panic("kernelops: sparse row has not one value for every column")
	}
	var lane [mixedLanes]float64
	taken := 0
	if m.vectors && len(w) > 0 {
		taken = mixedSparseBlocks(&lane, index, value, w, soonIndex, soonValue)
	}
	index, value = index[taken:], value[taken:]
	for len(index) >= mixedLanes && len(value) >= mixedLanes && taken%mixedLanes == 0 {
		at, v := (*[mixedLanes]int32)(index), (*[mixedLanes]float32)(value)
		for e := range lane {
			lane[e] += float64(w[uint32(at[e])] * float64(v[e]))
		}
		index, value = index[mixedLanes:], value[mixedLanes:]
	}
	for p, j := range index {
		lane[(taken+p)%mixedLanes] += float64(w[uint32(j)] * float64(value[p]))
	}
	return addHalves(&lane)
}

func mixedDotGeneric(w []float64, x []float32) float64 {
	var lane [mixedLanes]float64
	for len(x) >= mixedLanes {
		v, u := (*[mixedLanes]float32)(x), (*[mixedLanes]float64)(w)
		for e := range lane {
			lane[e] += float64(u[e] * float64(v[e]))
		}
		x, w = x[mixedLanes:], w[mixedLanes:]
	}
	for e, v := range x {
		lane[e] += float64(w[e] * float64(v))
	}
	return addHalves(&lane)
}

func mixedSquareGeneric(x []float32) float64 {
	var lane [mixedLanes]float64
	for e, v := range x {
		lane[e%mixedLanes] += float64(float64(v) * float64(v))
	}
	return addHalves(&lane)
}

func mixedAxpyGeneric(dst []float64, x []float32, a float64) {
	for j, v := range x {
		dst[j] += float64(a * float64(v))
	}
}

func addScaledRowsGeneric(dst, x []float64, stride int, a []float64) {
	for i, f := range a {
		addScaledGeneric(dst, x[i*stride:][:len(dst)], f)
	}
}

// addHalves adds up lanes: the upper half to the lower, again and again.
func addHalves(lane *[mixedLanes]float64) float64 {
	for half := mixedLanes / 2; half > 0; half /= 2 {
		for e := range half {
			lane[e] += lane[e+half]
		}
	}
	return lane[0]
}
