package kernelops

import "unsafe"

// vectorOps are the implementations of the vector-shaped operations on float32 rows and packed
// bits. They trust their arguments; x holds rows stride apart.
type vectorOps struct {
	dot             func(x, y []float32) float32
	dotEach         func(dst []float32, rows [][]float32, y []float32, soon *[eachGroup][]float32)
	dotRows         rowReduction
	sqEuclideanRows rowReduction
	l1Rows          rowReduction
	lInfRows        rowReduction
	axpby           func(dst, x []float32, a, b float32)
	axpyRows        func(dst, x []float32, stride int, a []float32)
	accumulateRows  func(sums []float64, cols int, x []float32, stride int, groups []int32)
	groupDistances  func(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32)
	hammingRows     func(dst []int, x []uint64, stride int, y []uint64)
	sumParts        partsOf
	squareParts     partsOf
	columnRanges    func(low, high, least, x []float32, stride, rows int)
}

func vectorGeneric() vectorOps {
	return vectorOps{
		dot:             dotGeneric,
		dotEach:         dotEachGeneric,
		dotRows:         reduceGeneric(foldDot, add32),
		sqEuclideanRows: reduceGeneric(foldSqEuclidean, add32),
		l1Rows:          reduceGeneric(foldL1, add32),
		lInfRows:        reduceGeneric(foldLInf, max32),
		axpby:           axpbyGeneric,
		axpyRows:        axpyRowsGeneric,
		accumulateRows:  accumulateRowsGeneric,
		groupDistances:  groupDistancesGeneric,
		hammingRows:     hammingRowsGeneric,
		sumParts:        sumPartsGeneric,
		squareParts:     squarePartsGeneric,
		columnRanges:    columnRangesGeneric,
	}
}

// Axpy adds a multiple of x to dst, one rounding per element:
//
//	for i := range dst {
//		dst[i] = fma32(a, x[i], dst[i])
//	}
//
// dst and x have the same length; they are the same slice or do not overlap.
func (s *Set) Axpy(dst, x []float32, a float32) { s.Axpby(dst, x, a, 1) }

// Axpby adds a multiple of x to a multiple of dst. The multiple of dst is rounded first:
//
//	for i := range dst {
//		dst[i] = fma32(a, x[i], float32(b*dst[i]))
//	}
//
// dst and x have the same length; they are the same slice or do not overlap.
func (s *Set) Axpby(dst, x []float32, a, b float32) {
	checkRows(dst, x)
	for len(dst) > callElements {
		s.axpby(dst[:callElements], x[:callElements], a, b)
		dst, x = dst[callElements:], x[callElements:]
	}
	if len(dst) > 0 {
		s.axpby(dst, x, a, b)
	}
}

// AxpyRows adds a weighted sum of the rows of x to dst (with weights a: the transposed
// matrix times a vector). It is Axpy row by row, in order:
//
//	for i := range x.Rows {
//		s.Axpy(dst, x.Row(i), a[i])
//	}
//
// dst has x.Cols elements and overlaps neither x nor a; a has x.Rows.
func (s *Set) AxpyRows(dst []float32, x Matrix, a []float32) {
	x.check()
	if len(dst) != x.Cols || len(a) != x.Rows {
		panic("kernelops: rows have different lengths")
	}
	if overlap(dst, x.elements()) || overlap(dst, a) {
		panic("kernelops: result overlaps an input")
	}
	if x.empty() {
		return
	}
	width := min(x.Cols, callElements)
	height := callElements / width
	for j := 0; j < x.Cols; j += width {
		to := min(j+width, x.Cols)
		for i := 0; i < x.Rows; i += height {
			end := min(i+height, x.Rows)
			s.axpyRows(dst[j:to], x.block(i, end, j, to).Data, x.Stride, a[i:end])
		}
	}
}

// AccumulateRows adds the rows of x, in order and in float64, to the sum of their group,
// as k-means does with the points of each center:
//
//	for i, g := range groups {
//		for j, v := range x.Row(i) {
//			sums[int(g)*x.Cols+j] += float64(v)
//		}
//	}
//
// groups has an element for every row; sums has x.Cols elements for every group.
func (s *Set) AccumulateRows(sums []float64, x Matrix, groups []int32) {
	x.check()
	if len(groups) != x.Rows {
		panic("kernelops: not one group for every row")
	}
	if x.empty() {
		return
	}
	checkGroups(groups, len(sums)/x.Cols)
	if x.Cols > callElements {
		accumulateLong(s.accumulateRows, sums, x, groups)
		return
	}
	height := rowsPerCall(x.Cols)
	for i := 0; i < x.Rows; i += height {
		end := min(i+height, x.Rows)
		s.accumulateRows(sums, x.Cols, x.RowRange(i, end).Data, x.Stride, groups[i:end])
	}
}

// rowsPerCall returns how many rows of cols elements a call may take, at least one. A row takes the
// time of some 32 elements beside its own.
func rowsPerCall(cols int) int { return max(callElements/(cols+32), 1) }

// accumulateLong is AccumulateRows for rows longer than a call may be.
func accumulateLong(
	accumulate func(sums []float64, cols int, x []float32, stride int, groups []int32), sums []float64, x Matrix,
	groups []int32,
) {
	one := []int32{0}
	for i, g := range groups {
		sum := sums[int(g)*x.Cols:][:x.Cols]
		for j := 0; j < x.Cols; j += callElements {
			end := min(j+callElements, x.Cols)
			accumulate(sum[j:end], end-j, x.Row(i)[j:end], x.Stride, one)
		}
	}
}

func checkGroups(groups []int32, n int) {
	for _, g := range groups {
		if g < 0 || int(g) >= n {
			panic("kernelops: no sum for a group")
		}
	}
}

func axpbyGeneric(dst, x []float32, a, b float32) {
	for i, v := range dst {
		dst[i] = fma32(a, x[i], float32(b*v))
	}
}

func axpyRowsGeneric(dst, x []float32, stride int, a []float32) {
	for i, f := range a {
		row := x[i*stride:][:len(dst)]
		for j, v := range row {
			dst[j] = fma32(f, v, dst[j])
		}
	}
}

func accumulateRowsGeneric(sums []float64, cols int, x []float32, stride int, groups []int32) {
	for i, g := range groups {
		sum := sums[int(g)*cols:][:cols]
		for j, v := range x[i*stride:][:cols] {
			sum[j] += float64(v)
		}
	}
}

// elements returns the memory of m from its first element to its last.
func (m Matrix) elements() []float32 {
	if m.empty() {
		return nil
	}
	return m.Data[:(m.Rows-1)*m.Stride+m.Cols]
}

// overlap reports whether x and y share memory.
func overlap[T any](x, y []T) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	px, py := uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&y[0]))
	return px < py+uintptr(len(y))*unsafe.Sizeof(y[0]) && py < px+uintptr(len(x))*unsafe.Sizeof(x[0])
}
