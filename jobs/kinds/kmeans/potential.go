package kmeans

import (
	"math"
	"math/bits"
)

// potential is a sum of numbers from 0 to a largest one, in 128 bits of fixed point, so that no order of the records
// and no cut into shards changes it: greedy seeding compares such sums. Each number is cut to a multiple of 2^-80 times
// a power of two near the largest; up to 2^45 of them fit.
type potential struct{ high, low uint64 }

func newPotential(words []uint64) potential { return potential{words[0], words[1]} }

// fixedPoint says which power of two the lowest bit of a potential is.
type fixedPoint int

// fixedBits are the bits below the highest of the largest number.
const fixedBits = 80

func newFixedPoint(largest float64) fixedPoint {
	_, exponent := math.Frexp(largest) // largest < 2^exponent
	return fixedPoint(exponent - fixedBits)
}

// add adds a number from 0 to the largest.
func (p *potential) add(at fixedPoint, v float64) {
	if !(v > 0) {
		return
	}
	fraction, exponent := math.Frexp(v)
	digits := uint64(math.Ldexp(fraction, 53)) //lint:checked below 2^53
	shift := exponent - 53 - int(at)
	if shift < 0 {
		p.join(potential{0, digits >> min(-shift, 63)})
		return
	}
	shift = min(shift, 64) // 27 at most, for a number up to the largest
	p.join(potential{digits >> (64 - shift), digits << shift})
}

// join adds another potential of the same fixed point.
func (p *potential) join(q potential) {
	var carry uint64
	p.low, carry = bits.Add64(p.low, q.low, 0)
	p.high, _ = bits.Add64(p.high, q.high, carry)
}

// below reports whether p is less than q.
func (p potential) below(q potential) bool {
	return p.high < q.high || p.high == q.high && p.low < q.low
}
