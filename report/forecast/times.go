// Package forecast tells when tasks of known times will all have ended.
//
// Where n independent tasks have a slot each, the last ends by t with probability F(t)^n, F being the distribution of
// one task's time. A second attempt that begins at s, if the first has not ended by then, makes F(t) into
// 1 - (1-F(t))(1-F(t-s)). So 1,000 tasks that take 1 second, or stall with probability 1/1000, all end in 1 second with
// probability 0.999^1000 = 0.37 only; with copies that begin at 1.5 seconds they all end by 2.5 seconds with
// probability (1-10^-6)^1000 = 0.999. Dean and Ghemawat call such copies backup executions (MapReduce, OSDI 2004,
// section 3.6).
//
// Where tasks wait for slots, a Round is repeated with times drawn from the recorded ones.
//
// Everything here takes tasks to be independent of each other, and a copy of its original. What makes a task slow
// wherever it runs, such as a long shard, is made slow again by its copy: then the truth is worse than the forecast.
package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Copies say when a task that takes long gets a second attempt, the copy; it has at most one.
type Copies struct {
	After float64 // it took longer than this many times the median; 0 means that there are no copies
	Least float64 // and longer than this, in seconds
	From  float64 // and this share of the round's tasks has ended
	Most  int     // copies at a time; 0 means any number
}

// Times are the times that single tasks took, in seconds: an empirical distribution.
type Times struct{ sorted []float64 }

// TimesOf takes times in any order. It refuses an empty list, and what is no time.
func TimesOf(seconds []float64) (Times, error) {
	if len(seconds) == 0 {
		return Times{}, errors.New("no task times are known")
	}
	for i, s := range seconds {
		if !(s >= 0) || math.IsInf(s, 0) {
			return Times{}, fmt.Errorf("task time %d is %v seconds", i, s)
		}
	}
	sorted := slices.Clone(seconds)
	slices.Sort(sorted)
	return Times{sorted}, nil
}

// Count returns how many times are known.
func (t Times) Count() int { return len(t.sorted) }

// Quantile returns the least known time that a share p of them does not exceed.
func (t Times) Quantile(p float64) float64 { return Quantile(t.sorted, p) }

// Quantile returns the least of some ascending numbers, at least one, that a share p of them does not exceed.
func Quantile(ascending []float64, p float64) float64 {
	n := len(ascending)
	return ascending[sort.Search(n-1, func(i int) bool { return float64(i+1) >= float64(p*float64(n)) })]
}

// Later returns the share of times beyond a time.
func (t Times) Later(at float64) float64 { return t.laterFrom(0, at) }

// laterFrom is the share of tasks begun at a time that have not ended by another.
func (t Times) laterFrom(begin, at float64) float64 {
	n := len(t.sorted)
	ended := sort.Search(n, func(i int) bool { return begin+t.sorted[i] > at })
	return float64(n-ended) / float64(n)
}

// CopyAt returns when a copy begins of a task that began at 0 with all others and has not ended, and false if there
// are no copies.
func (t Times) CopyAt(c Copies) (float64, bool) {
	if c.After == 0 {
		return math.Inf(1), false
	}
	return max(t.patience(c), t.Quantile(c.From)), true
}

// patience is how long a task may take before it is copied.
func (t Times) patience(c Copies) float64 { return max(float64(c.After*t.Quantile(0.5)), c.Least) }

// AllEnded returns the probability that n tasks, each with a slot of its own from 0 on, have all ended by a time.
// Copies begin at CopyAt; Copies.Most is taken to suffice.
func (t Times) AllEnded(at float64, n int, c Copies) float64 {
	late := t.Later(at)
	if begin, copied := t.CopyAt(c); copied && at >= begin {
		late *= t.laterFrom(begin, at)
	}
	return power(1-late, n)
}

// AllEndedBy returns the least time by which AllEnded reaches p, in O(m log m) for m known times.
func (t Times) AllEndedBy(p float64, n int, c Copies) float64 {
	candidates := slices.Clone(t.sorted)
	if begin, copied := t.CopyAt(c); copied {
		for _, s := range t.sorted {
			candidates = append(candidates, begin+s)
		}
		slices.Sort(candidates)
	}
	last := len(candidates) - 1
	return candidates[sort.Search(last, func(i int) bool { return t.AllEnded(candidates[i], n, c) >= p })]
}

// maxCopies is far more than anybody would make.
const maxCopies = 64

// CopiesFor returns how many copies a task must be granted so that with probability p each of n tasks has an attempt
// that does not stall, where an attempt stalls with probability q: the least k with (1 - q^(k+1))^n >= p. It returns
// false where 64 do not suffice.
func CopiesFor(q float64, n int, p float64) (int, bool) {
	for k := range maxCopies + 1 {
		if power(1-power(q, k+1), n) >= p {
			return k, true
		}
	}
	return 0, false
}

// power is x^n for n >= 0, by squaring: the same bits on every machine.
func power(x float64, n int) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= x
		}
		x *= x
	}
	return result
}
