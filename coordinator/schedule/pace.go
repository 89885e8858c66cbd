package schedule

import (
	"slices"
	"time"
)

// leaseTime is what a lease of leaves should take: a shorter one goes to a good part into calls, a
// commit and merges, of some ten milliseconds each.
const leaseTime = 200 * time.Millisecond

// pace is how long a leaf of a phase took, from lease to commit, as far as it was seen.
type pace struct {
	phase string
	leaf  time.Duration // 0 while nothing is known
	maps  window        // by leaf
	folds window        // by piece
	steps window        // one a round
}

// saw takes in a lease of some leaves. What was seen last counts half.
func (p *pace) saw(leaves int, took time.Duration) {
	leaf := took / time.Duration(leaves)
	p.maps.add(leaf)
	if p.leaf > 0 {
		leaf = (p.leaf + leaf) / 2
	}
	p.leaf = leaf
}

// leavesOfLease is how many leaves one lease may cover, of a round, given all of its leaves and those that are free: a
// quarter of a slot's even share of those, so that the end of a round is spread over everyone (factoring), or more
// where that takes less than leaseTime, up to an even share of the round.
func (p *pace) leavesOfLease(total, free, slots int) int {
	limit := max(1, free/(4*slots))
	if p.leaf <= 0 {
		return limit
	}
	share := (total + slots - 1) / slots
	return max(limit, min(share, int(leaseTime/p.leaf)))
}

// windowSize is how many times a median looks back.
const windowSize = 128

// window holds the last times seen.
type window struct {
	times [windowSize]time.Duration
	seen  int
}

func (w *window) add(t time.Duration) {
	w.times[w.seen%windowSize] = t
	w.seen++
}

// median is that of the last times, the upper of two in the middle; -1 while there are none.
func (w *window) median() time.Duration {
	times := w.times // a copy
	last := times[:min(w.seen, windowSize)]
	if len(last) == 0 {
		return -1
	}
	slices.Sort(last) // total order: equal times are the same
	return last[len(last)/2]
}
