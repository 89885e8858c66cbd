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

// addParts adds up to PartRows numbers in three parts on fixed grids, as kernelops.Set.SumParts does in two.
func (e *Exact) addParts(i int, list []float64) {
	largest := 0.0
	for _, v := range list {
		largest = max(largest, math.Abs(v))
	}
	exponent := exponentAbove(largest)
	if exponent < -600 || exponent > 600 {
		for _, v := range list {
			e.Add(i, v)
		}
		return
	}
	unit := [3]float64{kernelops.PartTop(exponent)}
	unit[1] = float64(unit[0] * partStep)
	unit[2] = float64(unit[1] * partStep)
	var first, second, third float64
	for _, v := range list {
		part := (v + unit[0]) - unit[0]
		first += part
		rest := v - part
		part = (rest + unit[1]) - unit[1]
		second += part
		rest -= part
		part = (rest + unit[2]) - unit[2]
		third += part
		if rest != part {
			e.Add(i, rest-part)
		}
	}
	e.Add(i, first)
	e.Add(i, second)
	e.Add(i, third)
}

// exponentAbove returns an exponent whose power of two is above v, which is finite and not negative.
func exponentAbove(v float64) int {
	return int(math.Float64bits(v)>>52) - 1022 // of subnormal numbers and 0: -1022
}
