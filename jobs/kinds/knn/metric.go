package knn

import "math"

var inf = math.Inf(1)

// metric is a distance by its name in the parameters.
type metric string

const (
	l2           metric = "l2"
	cosine       metric = "cosine"
	innerProduct metric = "inner_product"
	l1           metric = "l1"
	linf         metric = "linf"
	hamming      metric = "hamming"
	edit         metric = "edit"
	minkowski    metric = "minkowski"
	jaccard      metric = "jaccard"
	haversine    metric = "haversine"
	precomputed  metric = "precomputed"
	similarity   metric = "similarity"
)

var metrics = []metric{l2, cosine, innerProduct, l1, linf, hamming, edit, minkowski, jaccard, haversine, precomputed,
	similarity}

// distance is that of a key. Keys order neighbors; for l2 they are squares, for haversine those of a sine, else
// distances.
func (m metric) distance(key float64) float64 {
	switch m {
	case l2:
		return math.Sqrt(key)
	case haversine:
		return angle(key)
	}
	return key
}

// keyOf is a key at or above every key whose distance is not above d.
func (m metric) keyOf(d float64) float64 {
	switch m {
	case l2:
		// sqrt(key) <= d holds up to some key within an ulp or two of d*d
		return float64(d*d*(1+0x1p-50)) + math.SmallestNonzeroFloat64
	case haversine:
		return keyOfAngle(d)
	}
	return d
}

// given reports whether the distances, or similarities, are the columns of the records.
func (m metric) given() bool { return m == precomputed || m == similarity }

// signed reports whether a distance may be below 0.
func (m metric) signed() bool { return m == innerProduct || m == similarity }

// plain reports whether values mean something that scaling would take from them.
func (m metric) plain() bool { return m == hamming || m == jaccard || m == haversine || m.given() }

// lanes is the number of partial sums of a float64 distance: part of what it means.
const lanes = 8

// sum adds lanes up by the tree j+4, j+2, j+1.
func sum(lane *[lanes]float64) float64 {
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

// dot64 is the dot product of x and y. The products are exact.
func dot64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	i := 0
	for ; i+lanes <= len(x); i += lanes {
		a, b := (*[lanes]float32)(x[i:]), (*[lanes]float32)(y[i:])
		for j := range lane {
			lane[j] += float64(float64(a[j]) * float64(b[j]))
		}
	}
	for j := range x[i:] {
		lane[j] += float64(float64(x[i+j]) * float64(y[i+j]))
	}
	return sum(&lane)
}

// square64 is the squared Euclidean distance: what kernelops.Set.Search computes.
func square64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	for i := range x {
		t := float64(x[i]) - float64(y[i])
		lane[i%lanes] += float64(t * t)
	}
	return sum(&lane)
}

// manhattan64 is the sum of the differences' magnitudes.
func manhattan64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	for i := range x {
		lane[i%lanes] += math.Abs(float64(x[i]) - float64(y[i]))
	}
	return sum(&lane)
}

// chebyshev64 is the largest difference's magnitude.
func chebyshev64(x, y []float32) float64 {
	d := 0.0
	y = y[:len(x)]
	for i := range x {
		d = max(d, math.Abs(float64(x[i])-float64(y[i])))
	}
	return d
}

// key is the key of two rows with the given norms, which cosine alone needs.
func (m metric) key(x, y []float32, xNorm, yNorm float64) float64 {
	switch m {
	case innerProduct:
		return 0 - dot64(x, y)
	case cosine:
		return 1 - cosineOf(dot64(x, y), xNorm, yNorm)
	case l1:
		return manhattan64(x, y)
	case linf:
		return chebyshev64(x, y)
	}
	return square64(x, y)
}

func cosineOf(dot, xNorm, yNorm float64) float64 {
	product := float64(xNorm * yNorm)
	if product == 0 {
		return 0
	}
	return min(1, max(-1, dot/product))
}

// norm64 is the Euclidean norm.
func norm64(x []float32) float64 { return math.Sqrt(dot64(x, x)) }

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
