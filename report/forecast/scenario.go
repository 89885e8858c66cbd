package forecast

import (
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Scenario is a job as one run of it went: rounds to be repeated, and what else it took, in seconds.
type Scenario struct {
	Rounds []Round
	Rest   float64
}

// Mix repeats scenarios, at least one, in equal shares, and returns in ascending order how long they took. Of n > 1
// runs that went alike by chance alone, the next is slower than all with probability 1/(n+1): as large a share of the
// times is that of the slowest scenario, drawn out as far as the times of the runs spread (see shapeOf). One run says
// nothing of how runs differ, and has no such share.
func Mix(scenarios []Scenario, repetitions int, seed uint64) []float64 {
	each := max(1, repetitions/len(scenarios))
	var all, middle, slowest []float64
	for i, s := range scenarios {
		ends := Simulate(s.Rounds, each, seed+uint64(i)) //lint:checked at least 0
		for at := range ends {
			ends[at] += s.Rest
		}
		all = append(all, ends...)
		if middle = append(middle, Quantile(ends, 0.5)); len(slowest) == 0 || middle[i] > Quantile(slowest, 0.5) {
			slowest = ends
		}
	}
	if len(scenarios) > 1 {
		slices.Sort(middle)
		shape, key := shapeOf(middle), philox.New(seed, "forecast/slower")
		for i := range each {
			d := draws{key: key, repetition: uint64(i)} //lint:checked at least 0
			at, _ := bits.Mul64(d.uint64(), uint64(each))
			all = append(all, slowest[at]*fmath.Exp(float64(-shape*fmath.Log(d.chance()))))
		}
	}
	slices.Sort(all)
	return all
}
