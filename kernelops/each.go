package kernelops

// eachGroup is how many rows an implementation of DotEach takes at least, and a multiple of which.
const eachGroup = 4

// DotEach sets dst[i] to s.Dot(rows[i], y), for rows that lie anywhere in memory. Several are read at once, which
// comes closer to what memory gives than one at a time. dst has as many elements as there are rows, and
// overlaps neither them nor y; each of them is as long as y.
func (s *Set) DotEach(dst []float32, rows [][]float32, y []float32) {
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
	taken := 0
	if height := rowsPerCall(len(y)) &^ (eachGroup - 1); height > 0 && len(y) > 0 {
		for taken+eachGroup <= len(rows) {
			end := min(taken+height, len(rows)&^(eachGroup-1))
			s.dotEach(dst[taken:end], rows[taken:end], y)
			taken = end
		}
	}
	for i, row := range rows[taken:] {
		dst[taken+i] = s.Dot(row, y)
	}
}

func dotEachGeneric(dst []float32, rows [][]float32, y []float32) {
	for i, row := range rows {
		dst[i] = dotGeneric(row, y)
	}
}
