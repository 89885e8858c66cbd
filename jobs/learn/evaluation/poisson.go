package evaluation

import (
	"math"
	"slices"
	"sync"

	"github.com/gram-compute/gram/kernelops/philox"
)

// poisson has, of each count k, 2^32 times the probability that a Poisson number of mean 1 is at most k, rounded down;
// what is beyond the last is less than 2^-32.
var poisson = []uint32{1580030168, 3160060337, 3950075421, 4213413783, 4279248373, 4292415291, 4294609777, 4294923276,
	4294962463, 4294966817, 4294967252, 4294967292}

// count is the number of a 32-bit draw.
func count(draw uint32) int {
	k := 0
	for k < len(poisson) && draw >= poisson[k] {
		k++
	}
	return k
}

// A Poisson number of a whole mean is a sum of Poisson numbers: as many of mean 32^i as digit i of the mean says, to
// base 32. The highest digit takes what is beyond.
const (
	poissonBits   = 5
	poissonDigits = 7
)

// poissonTable has Poisson numbers of one mean, from first on.
type poissonTable struct {
	first int64
	// below has, of each number, 2^64 times the probability that a draw is not above it, within 2^-40.
	below []uint64
}

// poissonTables are those of the means 32^1 to 32^6; they are made when they are first needed.
var poissonTables = func() (tables [poissonDigits]func() poissonTable) {
	for digit := 1; digit < poissonDigits; digit++ {
		tables[digit] = sync.OnceValue(func() poissonTable { return newPoissonTable(1 << (poissonBits * digit)) })
	}
	return tables
}()

// newPoissonTable leaves out what lies 12 deviations from the mean and further, which has a probability below 2^-64.
func newPoissonTable(mean int64) poissonTable {
	width := int64(12*math.Sqrt(float64(mean))) + 40 //lint:checked far below 2^63
	t := poissonTable{first: max(0, mean-width)}
	// By the ratios of neighbors, with 1 for the number that is the mean.
	p := make([]float64, mean+width-t.first+1)
	at := mean - t.first
	p[at] = 1
	for k := mean; k > t.first; k-- {
		p[k-1-t.first] = float64(p[k-t.first] * (float64(k) / float64(mean)))
	}
	for k := mean + 1; k <= mean+width; k++ {
		p[k-t.first] = float64(p[k-1-t.first] * (float64(mean) / float64(k)))
	}
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1]
	}
	all := p[len(p)-1]
	t.below = make([]uint64, len(p))
	for i, v := range p {
		t.below[i] = math.MaxUint64
		if share := v / all; share < 1 {
			t.below[i] = uint64(float64(share * 0x1p64)) //lint:checked below 2^64
		}
	}
	return t
}

func (t poissonTable) number(draw uint64) int64 {
	i, met := slices.BinarySearch(t.below, draw)
	if met { // numbers of the same limit have no probability of their own
		for i < len(t.below)-1 && t.below[i] == draw {
			i++
		}
	}
	return t.first + int64(min(i, len(t.below)-1))
}

// stream is a sequence of draws for one identity.
type stream struct {
	key  philox.Key
	a, b uint64 // the low 31 bits of b count blocks
	left int
	from [4]uint32
}

func (s *stream) uint32() uint32 {
	if s.left == 0 {
		x, y := s.key.Block(s.a, s.b)
		s.from = [4]uint32{uint32(y >> 32), uint32(y), uint32(x >> 32), uint32(x)}
		s.left = 4
		s.b++
	}
	s.left--
	return s.from[s.left]
}

func (s *stream) uint64() uint64 { return uint64(s.uint32()) | uint64(s.uint32())<<32 }

// poisson draws a Poisson number of a mean that is at least 0.
func (s *stream) poisson(mean int64) (number int64) {
	if mean == 1 {
		return int64(count(s.uint32()))
	}
	for digit := range poissonDigits {
		times := mean >> (poissonBits * digit)
		if digit < poissonDigits-1 {
			times &= 1<<poissonBits - 1
		}
		for range times {
			if digit == 0 {
				number += int64(count(s.uint32()))
			} else {
				number += poissonTables[digit]().number(s.uint64())
			}
		}
	}
	return number
}
