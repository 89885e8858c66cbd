package sums

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// Exact is a list of sums of float64 numbers without any rounding, so no order or grouping of the additions can change
// them. Each is an integer in two's complement, times 2^(64*low). (Kulisch's long accumulator, kept as short as the
// numbers allow: Kulisch and Miranker, The arithmetic of the digital computer: a new approach, SIAM Review 28, 1986.)
//
// A list holds any 2^62 additions. Its memory is that of n integers as long as the range from the smallest to the
// largest bit of all numbers added, and up to two limbs more until it is stored.
type Exact struct {
	n, limbs int      // limbs of each sum
	low      int      // position of the first limb: its unit is 2^(64*low)
	limb     []uint64 // [n x limbs], the lowest first
	room     int      // numbers that end two limbs below it may be added
}

// The positions that finite float64 numbers and their sums may have.
const (
	firstLimb = -17 // 2^-1074 is in the limb of 2^-1088
	lastLimb  = 19  // 2^1024 is in the limb 16; those above take carries
)

// NewExact returns n sums of nothing.
func NewExact(n int) *Exact { return &Exact{n: n, room: firstLimb} }

// Clone returns a copy.
func (e *Exact) Clone() *Exact {
	c := *e
	c.limb = slices.Clone(e.limb)
	return &c
}

// Len returns the number of sums.
func (e *Exact) Len() int { return e.n }

// Add adds a finite number to sum i. The time is constant, but for numbers beyond all earlier ones, which make every
// sum longer.
func (e *Exact) Add(i int, v float64) {
	word := math.Float64bits(v)
	mantissa, exponent := word&(1<<52-1), int(word>>52)&0x7ff
	if exponent == 0 {
		if mantissa == 0 {
			return
		}
		exponent = 1
	} else {
		mantissa |= 1 << 52
	}
	at := exponent - 1075 - 64*firstLimb // of the lowest bit, from 0
	position, shift := at/64+firstLimb, uint(at%64)
	if position < e.low || position+3 > e.room {
		e.widen(position, position+3)
	}
	sum := e.limb[i*e.limbs:][:e.limbs][position-e.low:]
	low, high := mantissa<<shift, mantissa>>(64-shift)
	minus := uint64(int64(word) >> 63) // all ones below 0: without a branch, signs cost nothing
	var carry uint64
	sum[0], carry = bits.Add64(sum[0], low^minus, minus&1)
	sum[1], carry = bits.Add64(sum[1], high^minus, carry)
	for j := 2; j < len(sum); j++ {
		sum[j], carry = bits.Add64(sum[j], minus, carry)
	}
}

// AddWeighted adds weight*v, unrounded, to sum i. The magnitude of v is 0 or between 2^-600 and 2^600.
func (e *Exact) AddWeighted(i int, weight float32, v float64) {
	const half = 1<<27 - 1
	high := math.Float64frombits(math.Float64bits(v) &^ half)
	e.Add(i, float64(float64(weight)*high)) // 24 bits by 26
	e.Add(i, float64(float64(weight)*(v-high)))
}

// AddSquare adds v*v to sum i, unrounded if the magnitude of v is 0 or between 2^-400 and 2^500. Others are rounded,
// and beyond float64 they count as its largest number.
func (e *Exact) AddSquare(i int, v float64) {
	if magnitude := math.Abs(v); magnitude < 0x1p-400 || magnitude > 0x1p500 {
		e.Add(i, min(float64(v*v), math.MaxFloat64))
		return
	}
	word := math.Float64bits(v)
	mantissa, exponent := word&(1<<52-1)|1<<52, int(word>>52)&0x7ff-1075
	high, low := bits.Mul64(mantissa, mantissa)
	for _, digits := range []uint64{low & (1<<32 - 1), low >> 32, high & (1<<32 - 1), high >> 32} {
		unit := math.Float64frombits(uint64(2*exponent+1023) << 52)
		e.Add(i, float64(float64(digits)*unit))
		exponent += 16
	}
}

// widen makes room for limbs from low to below high.
func (e *Exact) widen(low, high int) {
	if e.limbs > 0 {
		end := e.low + e.limbs
		if e.room < end {
			end++ // the sums were stored: their last limbs are full
		}
		low, high = min(low, e.low), max(high, end)
	}
	e.limb = e.spread(low, high-low)
	e.low, e.limbs, e.room = low, high-low, high
}

// spread returns the limbs of a layout with more of them, below and above.
func (e *Exact) spread(low, limbs int) []uint64 {
	wide := make([]uint64, e.n*limbs)
	if e.limbs == 0 {
		return wide
	}
	for i := range e.n {
		sum := e.limb[i*e.limbs:][:e.limbs]
		to := wide[i*limbs:][:limbs][e.low-low:]
		if n := copy(to, sum); negative(sum) {
			for j := range to[n:] {
				to[n+j] = math.MaxUint64
			}
		}
	}
	return wide
}

func negative(sum []uint64) bool { return len(sum) > 0 && sum[len(sum)-1]>>63 == 1 }

// Plus returns the sums of both lists; it changes neither. Lists of different lengths are a *protocol.Fault of
// CodeCorrupt.
func (e *Exact) Plus(right *Exact) (*Exact, error) {
	if e.n != right.n {
		return nil, jobs.Malformed("partials of %d and %d sums", e.n, right.n)
	}
	switch {
	case e.limbs == 0:
		return right, nil
	case right.limbs == 0:
		return e, nil
	}
	low, high := min(e.low, right.low), max(e.low+e.limbs, right.low+right.limbs)+1 // one more for the carry
	total := &Exact{n: e.n, low: low, limbs: high - low, limb: e.spread(low, high-low), room: firstLimb}
	other := right.spread(low, high-low)
	for i := range e.n {
		a, b := total.limb[i*total.limbs:][:total.limbs], other[i*total.limbs:][:total.limbs]
		var carry uint64
		for j := range a {
			a[j], carry = bits.Add64(a[j], b[j], carry)
		}
	}
	total.trim()
	return total, nil
}

// trim drops limbs that no sum needs, so that equal sums have equal limbs.
func (e *Exact) trim() {
	first, end := e.limbs, 0
	for i := range e.n {
		sum := e.limb[i*e.limbs:][:e.limbs]
		zeros := 0
		for zeros < len(sum) && sum[zeros] == 0 {
			zeros++
		}
		if zeros == len(sum) {
			continue
		}
		sign, used := -(sum[len(sum)-1] >> 63), len(sum)
		for used > 1 && sum[used-1] == sign && sum[used-2]>>63 == sign&1 {
			used--
		}
		first, end = min(first, zeros), max(end, used)
	}
	switch {
	case first >= end:
		*e = *NewExact(e.n)
	case end-first < e.limbs:
		tight := make([]uint64, 0, e.n*(end-first))
		for i := range e.n {
			tight = append(tight, e.limb[i*e.limbs:][first:end]...)
		}
		e.low, e.limbs, e.limb = e.low+first, end-first, tight
	}
}

// Fields lists the sums under a name, and the position of their first limb under name.low.
func (e *Exact) Fields(f *jobs.Fields, name string) {
	if !f.Reading() {
		trimmed := *e
		e = &trimmed
		e.trim()
	}
	e.room = firstLimb
	f.Dim(name, 0, &e.n)
	f.Dim(name, 1, &e.limbs)
	f.Int(name+".low", &e.low, firstLimb, lastLimb)
	f.Require(e.low+e.limbs <= lastLimb+2, "sums of %d limbs from %d", e.limbs, e.low)
	jobs.List(f, name, &e.limb, e.n, e.limbs)
}

// Only returns a list of sum i alone.
func (e *Exact) Only(i int) *Exact {
	from, to := i*e.limbs, (i+1)*e.limbs
	return &Exact{n: 1, limbs: e.limbs, low: e.low, limb: e.limb[from:to:to], room: firstLimb}
}

// placed returns rows of width sums, of which row to[y] has those of row y, and the others sums of nothing.
func (e *Exact) placed(to []int32, rows, width int) *Exact {
	all := &Exact{n: rows * width, limbs: e.limbs, low: e.low, room: firstLimb}
	all.limb = make([]uint64, all.n*e.limbs)
	for y, row := range to {
		copy(all.limb[int(row)*width*e.limbs:], e.limb[y*width*e.limbs:(y+1)*width*e.limbs])
	}
	return all
}

// Int returns sum i as an integer; its unit is 2^Unit().
func (e *Exact) Int(i int) *big.Int {
	sum := e.limb[i*e.limbs:][:e.limbs]
	minus := negative(sum)
	words := make([]big.Word, 0, len(sum)*64/bits.UintSize)
	carry := uint64(1)
	for _, limb := range sum {
		if minus {
			limb, carry = bits.Add64(^limb, 0, carry)
		}
		for range 64 / bits.UintSize {
			words = append(words, big.Word(limb))
			limb >>= bits.UintSize % 64
		}
	}
	n := new(big.Int).SetBits(words)
	if minus {
		n.Neg(n)
	}
	return n
}

// Unit returns the exponent of the power of two that Int counts in.
func (e *Exact) Unit() int { return 64 * e.low }

// Float returns sum i, rounded once to the nearest float64, ties to even. A sum beyond all of them is an infinity.
func (e *Exact) Float(i int) float64 {
	sum := e.limb[i*e.limbs:][:e.limbs]
	var magnitude [lastLimb + 2 - firstLimb]uint64
	minus, top, carry := negative(sum), -1, uint64(1)
	for j, limb := range sum {
		if minus {
			limb, carry = bits.Add64(^limb, 0, carry)
		}
		if magnitude[j] = limb; limb != 0 {
			top = j
		}
	}
	if top < 0 {
		return 0
	}
	shift := uint(bits.LeadingZeros64(magnitude[top]))
	exponent := 64*(e.low+top) - int(shift) // of the last of 64 bits
	if exponent < -1022 || exponent > 1023-64 {
		f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(e.Int(i)), e.Unit()).Float64()
		return f
	}
	high := magnitude[top] << shift
	for j, limb := range magnitude[:top] {
		if j == top-1 {
			high |= limb >> (64 - shift)
			limb <<= shift
		}
		if limb != 0 {
			high |= 1 // far below the last bit of the result: it only decides ties
		}
	}
	f := float64(float64(high) * math.Float64frombits(uint64(exponent+1023)<<52))
	if minus {
		return -f
	}
	return f
}

// Floats returns all sums, rounded as by Float.
func (e *Exact) Floats() []float64 {
	list := make([]float64, e.n)
	for i := range list {
		list[i] = e.Float(i)
	}
	return list
}
