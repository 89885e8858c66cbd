package kernelops

import "math"

// nearest is a list of at most k rows, ordered by (distance, row).
type nearest struct {
	k     int
	rows  []int
	dists []float64
}

// offer puts the row into the list if it belongs there. NaN and +Inf never do.
func (n *nearest) offer(dist float64, row int) {
	if !(dist < math.Inf(1)) || len(n.rows) == n.k && !n.before(dist, row, n.k-1) {
		return
	}
	if len(n.rows) < n.k {
		n.rows, n.dists = append(n.rows, 0), append(n.dists, 0)
	}
	i := len(n.rows) - 1
	for ; i > 0 && n.before(dist, row, i-1); i-- {
		n.rows[i], n.dists[i] = n.rows[i-1], n.dists[i-1]
	}
	n.rows[i], n.dists[i] = row, dist
}

// before reports whether (dist, row) comes before entry i.
func (n *nearest) before(dist float64, row, i int) bool {
	return dist < n.dists[i] || dist == n.dists[i] && row < n.rows[i]
}

// worst is the distance of entry k, +Inf while there are fewer.
func (n *nearest) worst() float64 {
	if len(n.rows) < n.k {
		return math.Inf(1)
	}
	return n.dists[n.k-1]
}

// least is the distance of the first entry, +Inf in an empty list.
func (n *nearest) least() float64 {
	if len(n.rows) == 0 {
		return math.Inf(1)
	}
	return n.dists[0]
}
