package kernelops

// eachGroup is how many rows an implementation of DotEach takes at least, and a multiple of which.
const eachGroup = 4

// DotEach sets dst[i] to s.Dot(rows[i], y), for rows that lie anywhere in memory. Several are read at once, which
// comes closer to what memory gives than one at a time. dst has as many elements as there are rows, and
// overlaps neither them nor y; each of them is as long as y.
func (s *Set) DotEach(dst []float32, rows [][]float32, y []float32) { s.DotEachBefore(dst, rows, y, nil) }

// DotEachBefore is DotEach, for a caller that goes on to other rows in an order that the hardware does not foresee: it
// prefetches the first of those that are read soon, so that they come while the others are computed.
func (s *Set) DotEachBefore(dst []float32, rows [][]float32, y []float32, soon [][]float32) {
	if len(dst) != len(rows) {
		panic("kernelops: rows have different lengths")
	}
	for _, row := range rows {
		if len(row) != len(y) {
			panic("kernelops: rows have different lengths")
		}
		if overlap(dst, row) {
			panic("kernelops: result overlaps an input")
		}
	}
	if overlap(dst, y) {
		panic("kernelops: result overlaps an input")
	}
	if len(soon) < eachGroup {
		soon = rows
	}
	taken := 0
	if height := rowsPerCall(len(y)) &^ (eachGroup - 1); height > 0 && len(y) > 0 {
		for taken+eachGroup <= len(rows) {
			end := min(taken+height, len(rows)&^(eachGroup-1))
			if stride, ok := oneByOne(rows[taken:end]); ok {
				s.dotRows(dst[taken:end], rows[taken], stride, y, nil)
				taken = end
				continue
			}
			next := soon
			if end+eachGroup <= len(rows) {
				next = rows[end:]
			}
			s.dotEach(dst[taken:end], rows[taken:end], y, (*[eachGroup][]float32)(next))
			taken = end
		}
	}
	for i, row := range rows[taken:] {
		dst[taken+i] = s.Dot(row, y)
	}
}

// oneByOne reports whether rows lie one behind the other, as those of a matrix of that stride, with less than a line
// between them: memory gives most to a reader of one such place (1.7 times what it gives to a reader of four, on an EPYC
// of the fourth generation).
func oneByOne(rows [][]float32) (stride int, ok bool) {
	step := bytesTo(rows[0], rows[1])
	for i := range rows[2:] {
		if bytesTo(rows[i+1], rows[i+2]) != step {
			return 0, false
		}
	}
	gap := step/4 - len(rows[0])
	return step / 4, step%4 == 0 && gap >= 0 && gap < lineFloats
}

func dotEachGeneric(dst []float32, rows [][]float32, y []float32, _ *[eachGroup][]float32) {
	for i, row := range rows {
		dst[i] = dotGeneric(row, y)
	}
}
