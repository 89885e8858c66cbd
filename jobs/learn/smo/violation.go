package smo

import (
	"cmp"
	"math"
	"slices"
)

// Sides reports whether y alpha may grow (I_up) and whether it may fall (I_low), for 0 <= alpha <= cost.
func Sides(alpha, y, cost float64) (up, low bool) {
	grows, falls := alpha < cost, alpha > 0
	if y > 0 {
		return grows, falls
	}
	return falls, grows
}

// Extremes are the greatest value over I_up and the least over I_low.
type Extremes struct {
	Up  float64 // m; -Inf of no member
	Low float64 // M; +Inf of no member
}

// NewExtremes are those of no variables.
func NewExtremes() Extremes { return Extremes{math.Inf(-1), math.Inf(1)} }

// Add takes in a variable of a value.
func (e *Extremes) Add(value float64, up, low bool) {
	if up {
		e.Up = max(e.Up, value)
	}
	if low {
		e.Low = min(e.Low, value)
	}
}

// Merge takes in the variables of o, in any order.
func (e *Extremes) Merge(o Extremes) { e.Up, e.Low = max(e.Up, o.Up), min(e.Low, o.Low) }

// Violation is m - M; -Inf if one of the sets is empty, which violates nothing.
func (e Extremes) Violation() float64 { return e.Up - e.Low }

// Bias returns b of the decision f + b: (m + M)/2. A coefficient between its bounds has the value b at the optimum, and
// lies between M and m before, so none is further from b than half the violation. Unlike the mean of those
// coefficients, b depends on two values only, whatever the order of the records, and it needs none between bounds.
// If one set is empty, b is the extreme of the other; if both are, 0.
func (e Extremes) Bias() float64 {
	none := e == NewExtremes()
	switch {
	case none:
		return 0
	case math.IsInf(e.Up, -1):
		return e.Low
	case math.IsInf(e.Low, 1):
		return e.Up
	}
	return e.Up/2 + e.Low/2
}

// Candidate is a variable that a working set may hold. The payload is the caller's.
type Candidate[P any] struct {
	Ordinal int64 // of the variable, unlike that of all others
	Value   float64
	Payload P
}

// Candidates keeps the most violating variables of each side, in a total order: the greatest values of I_up and the
// least of I_low, ties by the lowest ordinal. Each variable is added once. What is kept does not depend on the order of
// additions, nor on how they were grouped into lists that were merged.
type Candidates[P any] struct {
	most    int
	up, low []Candidate[P]
}

// NewCandidates returns an empty list that keeps at most that number of variables of each side.
func NewCandidates[P any](most int) *Candidates[P] { return &Candidates[P]{most: max(0, most)} }

func compareUp[P any](a, b Candidate[P]) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Ordinal, b.Ordinal))
}

func compareLow[P any](a, b Candidate[P]) int {
	return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Ordinal, b.Ordinal))
}

// Add adds a variable to the sides that it is on. The time is O(1) if it is not kept, else O(most).
func (c *Candidates[P]) Add(v Candidate[P], up, low bool) {
	if up {
		c.up = insert(c.up, v, c.most, compareUp[P])
	}
	if low {
		c.low = insert(c.low, v, c.most, compareLow[P])
	}
}

// insert keeps a list sorted and no longer than most.
func insert[P any](list []Candidate[P], v Candidate[P], most int,
	compare func(a, b Candidate[P]) int) []Candidate[P] {
	if len(list) == most {
		if most == 0 || compare(v, list[most-1]) >= 0 {
			return list
		}
		list = list[:most-1]
	}
	at, _ := slices.BinarySearchFunc(list, v, compare)
	return slices.Insert(list, at, v)
}

// Merge adds all variables of another list, which stays as it is.
func (c *Candidates[P]) Merge(o *Candidates[P]) {
	for _, v := range o.up {
		c.Add(v, true, false)
	}
	for _, v := range o.low {
		c.Add(v, false, true)
	}
}

// Up returns the variables of I_up, the greatest value first. The list is not a copy.
func (c *Candidates[P]) Up() []Candidate[P] { return c.up }

// Low returns the variables of I_low, the least value first. The list is not a copy.
func (c *Candidates[P]) Low() []Candidate[P] { return c.low }

// Extremes returns the extremes of all variables that were added; most must be above 0.
func (c *Candidates[P]) Extremes() Extremes {
	e := NewExtremes()
	if len(c.up) > 0 {
		e.Up = c.up[0].Value
	}
	if len(c.low) > 0 {
		e.Low = c.low[0].Value
	}
	return e
}

// Working returns at most n different variables, sorted by ordinal: the most violating of both sides in turn, that of
// I_up first. Of two sides that keep n each, it returns n if that many variables are on a side.
func (c *Candidates[P]) Working(n int) []Candidate[P] {
	chosen, seen := make([]Candidate[P], 0, n), make(map[int64]bool, n)
	for i := 0; i < max(len(c.up), len(c.low)); i++ {
		for _, side := range [][]Candidate[P]{c.up, c.low} {
			if i < len(side) && len(chosen) < n && !seen[side[i].Ordinal] {
				seen[side[i].Ordinal] = true
				chosen = append(chosen, side[i])
			}
		}
	}
	// total order: ordinals differ
	slices.SortFunc(chosen, func(a, b Candidate[P]) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return chosen
}

// KeepsUp reports whether Add would keep a variable of I_up.
func (c *Candidates[P]) KeepsUp(value float64, ordinal int64) bool {
	return keeps(c.up, c.most, Candidate[P]{Ordinal: ordinal, Value: value}, compareUp[P])
}

// KeepsLow reports whether Add would keep a variable of I_low.
func (c *Candidates[P]) KeepsLow(value float64, ordinal int64) bool {
	return keeps(c.low, c.most, Candidate[P]{Ordinal: ordinal, Value: value}, compareLow[P])
}

func keeps[P any](list []Candidate[P], most int, v Candidate[P], compare func(a, b Candidate[P]) int) bool {
	return len(list) < most || most > 0 && compare(v, list[most-1]) < 0
}
