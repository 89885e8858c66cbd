package kernelops

import "math"

// ColumnRanges widens the range of each column, and lowers its least magnitude above 0, to the values of x:
//
//	for i := range x.Rows {
//		for j, v := range x.Row(i) {
//			low[j], high[j] = min(low[j], v), max(high[j], v)
//			if v != 0 {
//				least[j] = min(least[j], abs(v))
//			}
//		}
//	}
//
// -0 is below +0. low, high and least have x.Cols elements; least is above 0, and no value is a NaN.
func (s *Set) ColumnRanges(low, high, least []float32, x Matrix) {
	x.check()
	if len(low) != x.Cols || len(high) != x.Cols || len(least) != x.Cols {
		panic("kernelops: rows have different lengths")
	}
	if overlap(low, x.elements()) || overlap(high, x.elements()) || overlap(least, x.elements()) ||
		overlap(low, high) || overlap(low, least) || overlap(high, least) {
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
			s.columnRanges(low[j:to], high[j:to], least[j:to], x.block(i, end, j, to).Data, x.Stride, end-i)
		}
	}
}

func columnRangesGeneric(low, high, least, x []float32, stride, rows int) {
	for i := range rows {
		for j, v := range x[i*stride:][:len(low)] {
			low[j], high[j] = min(low[j], v), max(high[j], v)
			if v != 0 {
				least[j] = min(least[j], math.Float32frombits(math.Float32bits(v)&^(1<<31)))
			}
		}
	}
}
