package kernelops

// eachGroup is how many rows an implementation of DotEach takes at least, and a multiple of which.
const eachGroup = 4

// DotEach sets dst[i] to s.Dot(rows[i], y), for rows that lie anywhere in memory. Several are read at once, which
// comes closer to what memory gives than one at a time. dst has as many elements as there are rows, and
// overlaps neither them nor y; each of them is as long as y. A caller that goes on to other rows in an order that the
// hardware does not foresee names the first of them, soon, so that they come while the others are computed.
func (s *Set) DotEach(dst []float32, rows [][]float32, y []float32, soon [][]float32) {
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
			dotGroups(s, dst[taken:end], rows[taken:end], y, rows[end:], soon)
			taken = end
		}
	}
	for i, row := range rows[taken:] {
		dst[taken+i] = s.Dot(row, y)
	}
}

// dotGroups is DotEach of some groups of rows; those behind them are read next, or else those of soon.
func dotGroups(s *Set, dst []float32, rows [][]float32, y []float32, behind, soon [][]float32) {
	next := soon
	switch stride, matrix := oneByOne(rows); {
	case matrix && s.oneStream: // assembly, which takes the first row for the whole matrix
		s.dotRows(dst, rows[0], stride, y, nil)
		return
	case matrix: // the hardware sees what comes
		next = rows
	case len(behind) >= eachGroup:
		next = behind
	}
	s.dotEach(dst, rows, y, (*[eachGroup][]float32)(next))
}

// oneByOne reports whether rows lie one behind the other, less than a line apart, as those of a matrix of that stride.
func oneByOne(rows [][]float32) (stride int, matrix bool) {
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
