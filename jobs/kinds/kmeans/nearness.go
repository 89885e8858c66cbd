package kmeans

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// nearness is what a leaf carries from round to round of seeding: each record's squared distance to
// the nearest seed, and that seed. A round looks at the newest seeds only. Rows are shifted to the first
// seed and not to the mean, so that the choice depends on records alone.
type nearness struct {
	sqDist []float64
	seed   []int32
	at     int       // rows visited
	first  int       // number of the first of the newest seeds
	newest *assigner // nil where there is no seed yet
	reach  *reach    // of the newest seed where it is one of several; else nil
	carry  bool      // sqDist and seed come from a former round
	ones   []float64
}

func newNearness(s *state, carry jobs.Arrays, ops *kernelops.Set) (*nearness, error) {
	width := s.space.Width
	seeds := len(s.seeds) / width
	n := &nearness{first: seeds - s.newest, carry: s.newest < seeds}
	if s.newest < 0 || n.first < 0 {
		return nil, jobs.Malformed("%d of %d seeds are new", s.newest, seeds)
	}
	if seeds == 0 {
		return n, nil
	}
	n.newest = newAssigner(ops, wide(s.seeds[n.first*width:]), s.seeds[:width])
	if !n.carry {
		return n, nil
	}
	was, err := jobs.Read(carry, &nearness{})
	if err != nil {
		return nil, err
	}
	for _, at := range was.seed {
		if at < 0 || int(at) >= n.first {
			return nil, jobs.Malformed("seed %d of %d is carried", at, n.first)
		}
	}
	n.sqDist, n.seed = append(n.sqDist, was.sqDist...), append(n.seed, was.seed...)
	if s.newest == 1 {
		n.reach = newReach(ops, wide(s.seeds[n.first*width:]), s.seeds[:n.first*width], len(n.sqDist))
	}
	return n, nil
}

// Fields lists what is carried.
func (n *nearness) Fields(f *jobs.Fields) {
	jobs.List(f, "sqdist", &n.sqDist)
	jobs.List(f, "seed", &n.seed, len(n.sqDist))
}

// next returns the squared distance and the seed of each of the next rows; 1 and nil where there is no seed.
func (n *nearness) next(c chunk) ([]float64, []int32, error) {
	rows := c.X.Rows
	if n.newest == nil {
		for len(n.ones) < rows {
			n.ones = append(n.ones, 1)
		}
		return n.ones[:rows], nil, nil
	}
	from := n.at
	n.at += rows
	if !n.carry {
		for range rows {
			n.sqDist, n.seed = append(n.sqDist, math.Inf(1)), append(n.seed, 0)
		}
	}
	if n.at > len(n.sqDist) {
		return nil, nil, jobs.Malformed("a leaf of more than the %d records it had", len(n.sqDist))
	}
	sqDist, seed := n.sqDist[from:n.at], n.seed[from:n.at]
	if n.newest.packed == nil { // the last round drew none
		return sqDist, seed, nil
	}
	if n.reach != nil {
		return sqDist, seed, n.meet(c, sqDist, seed)
	}
	if err := n.newest.assign(c); err != nil {
		return nil, nil, err
	}
	for i, index := range n.newest.index {
		if d := n.newest.sqDist[i]; d < sqDist[i] {
			sqDist[i], seed[i] = d, int32(n.first)+index
		}
	}
	return sqDist, seed, nil
}

// meet looks at the newest seed where it may be the nearest.
func (n *nearness) meet(c chunk, sqDist []float64, seed []int32) error {
	open, to := n.reach.find(c.X, sqDist, seed, nil)
	for at, d := range to {
		i := at
		if open != nil {
			i = int(open[at])
		}
		if d < sqDist[i] {
			sqDist[i], seed[i] = d, int32(n.first)
		} else if !(d < math.Inf(1)) { // not of rows that were read
			return beyond(c.IDs[i])
		}
	}
	return nil
}

// checkEnd compares the rows visited with those carried.
func (n *nearness) checkEnd() error {
	if n.at != len(n.sqDist) {
		return jobs.Malformed("a leaf of %d records had %d", n.at, len(n.sqDist))
	}
	return nil
}

func (n *nearness) arrays() jobs.Arrays {
	if n.newest == nil {
		return nil
	}
	return jobs.ArraysOf(n)
}
