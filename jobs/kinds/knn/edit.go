package knn

// editor computes edit distances; it keeps its rows of the table. One goroutine at a time.
type editor struct{ row []int }

// distance returns the Levenshtein distance of a and b if it is at most limit, else limit+1.
//
// It fills the band of the table (Wagner and Fischer, "The string-to-string correction
// problem", Journal of the ACM 21(1), 1974) that a distance up to limit can reach (Ukkonen,
// "Algorithms for approximate string matching", Information and Control 64, 1985): O(limit
// * min(len(a), len(b))) time, and memory linear in the shorter text.
func (e *editor) distance(a, b []rune, limit int) int {
	a, b = unlike(a, b)
	if len(a) < len(b) {
		a, b = b, a
	}
	limit = max(0, min(limit, len(a))) // no distance is above the longer length
	if len(a)-len(b) > limit {
		return limit + 1
	}
	e.first(len(b), limit)
	for i := range a {
		if e.next(a[i], i+1, b, limit) > limit {
			return limit + 1
		}
	}
	return min(e.row[len(b)], limit+1)
}

// first sets the row of the empty prefix, beyond the band to limit+1.
func (e *editor) first(n, limit int) {
	if cap(e.row) <= n {
		e.row = make([]int, n+1)
	}
	e.row = e.row[:n+1]
	for j := range e.row {
		e.row[j] = min(j, limit+1)
	}
}

// next turns the row of i-1 code points into that of i, the last of them c, within the
// band |i-j| <= limit. It returns the smallest entry.
func (e *editor) next(c rune, i int, b []rune, limit int) int {
	row := e.row
	from, to := max(1, i-limit), min(len(b), i+limit)
	diagonal := row[from-1]
	least := limit + 1
	if from == 1 {
		row[0] = min(i, limit+1)
		least = row[0]
	} else {
		row[from-1] = limit + 1 // left of the band
	}
	for j := from; j <= to; j++ {
		cost := diagonal
		if b[j-1] != c {
			cost = 1 + min(diagonal, row[j], row[j-1])
		}
		diagonal, row[j] = row[j], min(cost, limit+1)
		least = min(least, row[j])
	}
	return least
}

// unlike cuts off what a and b begin and end with alike, which no distance minds.
func unlike(a, b []rune) ([]rune, []rune) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
