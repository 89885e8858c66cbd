package sums

import (
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// partStep is the ratio of the grids of one part and the next.
const partStep = 1.0 / (1 << kernelops.PartBits)

// AddAll adds finite numbers to sum i, faster than one by one: in time linear in their number.
func (e *Exact) AddAll(i int, list []float64) {
	for len(list) > kernelops.PartRows {
		e.addParts(i, list[:kernelops.PartRows])
		list = list[kernelops.PartRows:]
	}
	e.addParts(i, list)
}

// addParts adds up to PartRows numbers in two parts, as kernelops.Set.SumParts does, if each is at least 2^-22 of the
// largest: the parts of 53 bits then add up without rounding. Otherwise it adds them one by one.
func (e *Exact) addParts(i int, list []float64) {
	high, low := uint64(0), uint64(math.MaxUint64) // bits of magnitudes have their order, and no NaN to look for
	for _, v := range list {
		magnitude := math.Float64bits(v) &^ (1 << 63)
		high, low = max(high, magnitude), min(low, magnitude)
	}
	largest := math.Float64frombits(high)
	exponent := exponentAbove(largest)
	if exponent < -600 || exponent > 600 || low < math.Float64bits(float64(largest*0x1p-22)) {
		for _, v := range list {
			e.Add(i, v)
		}
		return
	}
	unit := kernelops.PartTop(exponent)
	var a, b, restA, restB float64 // of even and of odd numbers, whose additions need not wait for each other
	for ; len(list) >= 2; list = list[2:] {
		v, w := list[0], list[1]
		part, other := (v+unit)-unit, (w+unit)-unit
		a, b = a+part, b+other
		restA, restB = restA+(v-part), restB+(w-other)
	}
	for _, v := range list {
		e.Add(i, v)
	}
	for _, sum := range [...]float64{a, b, restA, restB} {
		e.Add(i, sum)
	}
}

// exponentAbove returns an exponent whose power of two is above v, which is finite and not negative.
func exponentAbove(v float64) int {
	return int(math.Float64bits(v)>>52) - 1022 // of subnormal numbers and 0: -1022
}
