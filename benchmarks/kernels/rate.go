package main

import (
	"slices"

	"github.com/gram-compute/gram/internal/measure"
)

// rate is what entry e did in a round, in its unit: 1e9 a second. With one thread the clock is
// the time that the process had a processor, so that others on the machine do not
// count; with more it is the clock on the wall.
func (r result) rate(e entry, round int) float64 {
	s := e.samples[round]
	took := s.CPU
	if r.threads > 1 {
		took = s.Wall
	}
	return r.amountOf(e) * float64(s.Times) / float64(took.Nanoseconds())
}

// amountOf is the work of one run of e.
func (r result) amountOf(e entry) float64 {
	if e.amount != 0 {
		return e.amount
	}
	return r.amount
}

// rates are those of all rounds.
func (r result) rates(e entry) []float64 {
	all := make([]float64, len(e.samples))
	for round := range all {
		all[round] = r.rate(e, round)
	}
	return all
}

// find returns the entry of that name, and whether it ran.
func (r result) find(name string) (entry, bool) {
	i := slices.IndexFunc(r.entries, func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}, false
	}
	return r.entries[i], true
}

// ratios are, for every round, the rate of e over the best of others in that round.
func (r result) ratios(e entry, others ...entry) []float64 {
	all := r.rates(e)
	for round := range all {
		best := 0.0
		for _, o := range others {
			best = max(best, r.rate(o, round))
		}
		all[round] /= best
	}
	return all
}

// limitOf returns the entry of the limit that e is held to: the peak of its own
// instructions for a kernel set with one, else the highest there is.
func (r result) limitOf(e entry) (entry, bool) {
	var best entry
	for _, l := range r.entries {
		switch {
		case !l.bound || e.bound || r.unitOf(l) != r.unitOf(e):
		case "peak "+set(e.name) == l.name:
			return l, true
		case len(best.samples) == 0 || r.amountPerTime(l) > r.amountPerTime(best):
			best = l
		}
	}
	return best, len(best.samples) > 0
}

func (r result) amountPerTime(e entry) float64 { return measure.SpreadOf(r.rates(e)).Median }

func (r result) unitOf(e entry) unit {
	if e.unit != "" {
		return e.unit
	}
	return r.unit
}

// set is the kernel set in the name of a contender of ours, else "".
func set(name string) string {
	const own = "gram "
	if len(name) > len(own) && name[:len(own)] == own {
		return name[len(own):]
	}
	return ""
}
