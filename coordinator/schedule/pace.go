package schedule

import (
	"slices"
	"time"

	"github.com/gram-compute/gram/report/forecast"
)

// leaseTime is what a lease of leaves should take.
const leaseTime = forecast.LeaseTime

// pace is how long leaves of a phase took, as far as it was seen: from lease to commit, save leaf.
type pace struct {
	phase string
	ended recent        // leases of leaves, for forecasts
	tails window        // from the last leaf of a round to the next round
	leaf  time.Duration // what a worker spends on one; 0 while nothing is known
	maps  window        // by leaf
	folds window        // by piece
	steps window        // one a round
}

// saw takes in a lease of some leaves, and what its worker says it spent on them; 0 is not told. What was seen last
// counts half. How large leases are goes by what workers spend: what leases wait for calls and commits grows with their
// number, and small ones would make it worse. A worker that tells too little gets no more than its even share.
func (p *pace) saw(leaves int, took, spent time.Duration) {
	p.ended.add(forecast.Lease{Leaves: leaves, Seconds: took.Seconds()})
	leaf := took / time.Duration(leaves)
	p.maps.add(leaf)
	if spent > 0 {
		leaf = max(1, min(took, spent)/time.Duration(leaves))
	}
	if p.leaf > 0 {
		leaf = (p.leaf + leaf) / 2
	}
	p.leaf = leaf
}

// leavesOfLease is how many leaves one lease may cover, of a round, given all of its leaves and those that are free
// (factoring: the end of a round is spread over everyone), see forecast.LeavesOfLease.
func (p *pace) leavesOfLease(total, free, slots int) int {
	return forecast.LeavesOfLease(total, free, slots, p.leaf)
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
