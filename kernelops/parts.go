package kernelops

// PartBits is how many bits of a value each part of SumParts and SquareParts has, but for the last, which has the rest.
const PartBits = 37

// PartRows is how many rows may be added to the same parts: the sum of as many parts is exact.
const PartRows = 1 << 16

// partStep is the ratio of the grids of one part and the next.
const partStep = 1.0 / (1 << PartBits)

// PartTop returns the top that SumParts takes for values below 2^exponent: the float64 number whose last bit is the
// grid of the first part, 2^(exponent-PartBits). The exponent is from -600 to 600.
func PartTop(exponent int) float64 {
	top, step := 1.5*(1<<(52-PartBits)), 2.0
	if exponent < 0 {
		exponent, step = -exponent, 0.5
	}
	for range exponent {
		top = float64(top * step) // by a power of two: exact
	}
	return top
}

// SumParts adds the rows of x to the sum of their group, in two parts, so that sums are exact:
//
//	for i, g := range groups {
//		for j, v := range x.Row(i) {
//			part := (float64(v) + top[j]) - top[j]
//			sums[int(g)*x.Cols+j] += part
//			sums[len(sums)/2+int(g)*x.Cols+j] += float64(v) - part
//		}
//	}
//
// groups has an element for every row, top one for every column (see PartTop) and sums twice x.Cols for every group.
// The parts of at most PartRows rows add up without rounding, in any order, if all values are below 2^exponent and,
// but for zeros, at least 2^(exponent-52).
func (s *Set) SumParts(sums, top []float64, x Matrix, groups []int32) {
	parts(s.sumParts, 2, sums, top, x, groups)
}

// SquareParts adds the squares of the values in three parts. It is SumParts but for the inner loop:
//
//	rest := float64(v) * float64(v)
//	part := (rest + top[j]) - top[j]
//	sums[int(g)*x.Cols+j] += part
//	rest, unit := rest-part, top[j]*0x1p-37
//	part = (rest + unit) - unit
//	sums[len(sums)/3+int(g)*x.Cols+j] += part
//	sums[2*len(sums)/3+int(g)*x.Cols+j] += rest - part
//
// The exponent is twice that of the values. The parts add up without rounding if all values are below 2^(exponent/2)
// and, but for zeros, at least 2^(exponent/2-33).
func (s *Set) SquareParts(sums, top []float64, x Matrix, groups []int32) {
	parts(s.squareParts, 3, sums, top, x, groups)
}

// partsOf adds rows to parts, which are apart elements from one part of a sum to the next. It trusts its arguments.
type partsOf func(sums []float64, apart int, top []float64, x []float32, stride int, groups []int32)

func parts(add partsOf, n int, sums, top []float64, x Matrix, groups []int32) {
	x.check()
	if len(groups) != x.Rows {
		panic("kernelops: not one group for every row")
	}
	if len(top) != x.Cols || len(sums)%n != 0 {
		panic("kernelops: parts of another shape")
	}
	if x.empty() {
		return
	}
	apart := len(sums) / n
	checkGroups(groups, apart/x.Cols)
	const callParts = callElements / 4 // an element takes several times as long as one of Add
	if x.Cols > callParts {
		one := []int32{0}
		for i, g := range groups {
			for j := 0; j < x.Cols; j += callParts {
				end := min(j+callParts, x.Cols)
				add(sums[int(g)*x.Cols+j:], apart, top[j:end], x.Row(i)[j:end], x.Stride, one)
			}
		}
		return
	}
	height := max(callParts/(x.Cols+32), 1)
	for i := 0; i < x.Rows; i += height {
		end := min(i+height, x.Rows)
		add(sums, apart, top, x.RowRange(i, end).Data, x.Stride, groups[i:end])
	}
}

func sumPartsGeneric(sums []float64, apart int, top []float64, x []float32, stride int, groups []int32) {
	for i, g := range groups {
		at := int(g) * len(top)
		first, second := sums[at:][:len(top)], sums[apart+at:][:len(top)]
		for j, v := range x[i*stride:][:len(top)] {
			part := (float64(v) + top[j]) - top[j]
			first[j] += part
			second[j] += float64(v) - part
		}
	}
}

func squarePartsGeneric(sums []float64, apart int, top []float64, x []float32, stride int, groups []int32) {
	for i, g := range groups {
		at := int(g) * len(top)
		first, second, third := sums[at:], sums[apart+at:], sums[2*apart+at:]
		for j, v := range x[i*stride:][:len(top)] {
			rest := float64(float64(v) * float64(v))
			part := (rest + top[j]) - top[j]
			first[j] += part
			rest -= part
			unit := float64(top[j] * partStep)
			part = (rest + unit) - unit
			second[j] += part
			third[j] += rest - part
		}
	}
}
