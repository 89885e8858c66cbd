package forecast

import (
	"math/bits"
	"slices"
	"time"

	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/kernelops/philox"
)

// known are the times of leases, as they depend on the leaves. What is drawn out for all leaves grows with them; a
// stall is as long whatever the leaves.
type known struct {
	leaf  float64 // the median time of a leaf
	times []spread
	shape float64 // of what lies beyond the times, see beyond
}

type spread struct{ rate, stall float64 }

// stalled is from how many times the usual time on a lease has stalled.
const stalled = 1.5

func newKnown(ended []Lease) known {
	each := make([]float64, len(ended))
	for i, l := range ended {
		each[i] = l.Seconds / float64(l.Leaves)
	}
	slices.Sort(each)
	k := known{leaf: Quantile(each, 0.5)}
	for _, l := range ended {
		usual := float64(k.leaf * float64(l.Leaves))
		if s := (spread{rate: l.Seconds / float64(l.Leaves)}); l.Seconds <= stalled*usual {
			k.times = append(k.times, s)
		} else {
			k.times = append(k.times, spread{rate: k.leaf, stall: l.Seconds - usual})
		}
	}
	k.shape = shapeOf(each)
	return k
}

// knownOf are times that depend on no leaves: each is of one.
func knownOf(times []float64) known {
	k := known{shape: 1}
	for _, t := range times {
		k.times = append(k.times, spread{rate: t})
	}
	if len(times) > 0 {
		k.shape = shapeOf(times)
	}
	return k
}

// shapeOf estimates from ascending times how far those lie beyond that nobody saw yet: the mean logarithm by which the
// upper half exceeds the median (Hill, "A simple general approach to inference about the tail of a distribution",
// Annals of Statistics 3, 1975). It is 1, as of a stall of unknown length, where one time alone is known.
func shapeOf(ascending []float64) float64 {
	n := len(ascending)
	median := Quantile(ascending, 0.5)
	if n < 2 || median <= 0 {
		return 1
	}
	sum := 0.0
	for _, t := range ascending[n/2:] {
		sum += fmath.Log(t / median)
	}
	return max(0, sum/float64(n-n/2))
}

// leafTime is the median time of a leaf.
func (k known) leafTime() time.Duration {
	return time.Duration(min(float64(k.leaf*1e9), 1<<62)) //lint:checked 0 to 2^62
}

func (s spread) of(leaves int) float64 { return float64(s.rate*float64(leaves)) + s.stall }

// rest draws how much longer a lease takes that has been at work for since seconds: by one of the times beyond that.
// The next time exceeds all of n with chance 1/(n+1), whatever their distribution; it is drawn from a tail of k.shape,
// and from one of shape 1 where no known time is as long as since.
func (k known) rest(d *draws, leaves int, since float64) float64 {
	beyond, longest := 0, since
	for _, s := range k.times {
		if t := s.of(leaves); t > since {
			beyond, longest = beyond+1, max(longest, t)
		}
	}
	at := d.below(beyond + 1)
	if at == beyond {
		shape := k.shape
		if beyond == 0 {
			shape = 1
		}
		return longest*fmath.Exp(float64(-shape*fmath.Log(d.chance()))) - since
	}
	for _, s := range k.times {
		if t := s.of(leaves); t > since {
			if at == 0 {
				return t - since
			}
			at--
		}
	}
	return 0 // not reached
}

// draws are keyed: each is a function of its place.
type draws struct {
	key              philox.Key
	repetition, next uint64
}

func (d *draws) uint64() uint64 {
	d.next++
	return d.key.Uint64(d.repetition, d.next)
}

// below draws one of n numbers.
func (d *draws) below(n int) int {
	at, _ := bits.Mul64(d.uint64(), uint64(n)) //lint:checked n is positive
	return int(at)                             //lint:checked below n
}

// chance is in (0, 1].
func (d *draws) chance() float64 { return float64(d.uint64()>>11+1) / (1 << 53) }
