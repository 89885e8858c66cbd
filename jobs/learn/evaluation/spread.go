package evaluation

import (
	"fmt"
	"math"
	"math/big"

	"github.com/gram-compute/gram/jobs"
)

const (
	// spreadBins bounds the bins of a spread.
	spreadBins = 48
	// spreadTail is the part of the mass, 1/spreadTail, that is not looked at for the limits of the bins at either end.
	spreadTail = 200
	// spreadBits is how much narrower than the highest score the bins are at first.
	spreadBits = 40
)

// spread counts the masses of both sides of a ranking in bins of equal width. The width is the least power of two with
// which spreadBins bins reach from the highest score to the lowest, but for the tails, and 0 is the edge of a bin.
// So all of it follows from the records. The outer bins have the tails as well.
type spread struct {
	begun    bool
	exponent int // the width is 2^exponent
	bins     []spreadBin
	above    [2]*big.Int // of the upper tail, until there is a bin
}

// spreadBin is the masses between index and index+1 widths. Bins of a spread descend.
type spreadBin struct {
	index int64
	mass  [2]*big.Int
}

func newSpread() *spread { return &spread{above: [2]*big.Int{new(big.Int), new(big.Int)}} }

// take counts a score below all before it; before is the mass of those, all that of the ranking.
func (b *spread) take(score float64, mass [2]*big.Int, before, all *big.Int) {
	if b == nil {
		return
	}
	times := big.NewInt(spreadTail)
	if !b.begun {
		after := new(big.Int).Add(before, mass[0])
		after.Add(after, mass[1])
		if after.Mul(after, times).Cmp(all) <= 0 {
			addMasses(&b.above, mass)
			return
		}
		_, exponent := math.Frexp(score)
		b.begun, b.exponent = true, exponent-spreadBits
		at := int64(math.Floor(math.Ldexp(score, -b.exponent))) //lint:checked up to 2^spreadBits
		b.bins = []spreadBin{{at, b.above}}
		b.above = [2]*big.Int{new(big.Int), new(big.Int)}
	} else if left := new(big.Int).Sub(all, before); left.Mul(left, times).Cmp(all) > 0 {
		b.reach(score)
	}
	addMasses(&b.bins[len(b.bins)-1].mass, mass)
}

// reach makes the last bin that of a score.
func (b *spread) reach(score float64) {
	at := func() float64 { return math.Floor(math.Ldexp(score, -b.exponent)) }
	for !(float64(b.bins[0].index)-at() < spreadBins) {
		b.widen()
	}
	if index := int64(at()); index != b.bins[len(b.bins)-1].index { //lint:checked near the first bin
		b.bins = append(b.bins, spreadBin{index, [2]*big.Int{new(big.Int), new(big.Int)}})
	}
}

// widen makes one bin of two.
func (b *spread) widen() {
	b.exponent++
	joined := b.bins[:0]
	for _, bin := range b.bins {
		bin.index >>= 1
		if n := len(joined); n > 0 && joined[n-1].index == bin.index {
			addMasses(&joined[n-1].mass, bin.mass)
			continue
		}
		joined = append(joined, bin)
	}
	b.bins = joined
}

func addMasses(to *[2]*big.Int, more [2]*big.Int) {
	for i, m := range more {
		to[i].Add(to[i], m)
	}
}

// ScoreSpread is how records are spread over their scores. The first and the last bin also have the records beyond, at
// most 0.5 % at either end.
type ScoreSpread struct {
	From     float64   `json:"from"`     // lower edge of the first bin
	Width    float64   `json:"width"`    // of each bin; a power of two
	Negative []float64 `json:"negative"` // weight by bin
	Positive []float64 `json:"positive"`
}

// report is the spread; nil where all scores are in one bin, or too large to be told apart.
func (b *spread) report() *ScoreSpread {
	if b == nil || len(b.bins) < 2 {
		return nil
	}
	last := b.bins[len(b.bins)-1].index
	n := int(b.bins[0].index - last + 1)
	r := &ScoreSpread{From: math.Ldexp(float64(last), b.exponent), Width: math.Ldexp(1, b.exponent),
		Negative: make([]float64, n), Positive: make([]float64, n)}
	const most = math.MaxFloat64 / 8
	if !(r.Width > 0) || !(math.Abs(r.From) < most) || !(r.Width < most/spreadBins) {
		return nil
	}
	for _, bin := range b.bins {
		r.Negative[bin.index-last], r.Positive[bin.index-last] = massFloat(bin.mass[0]), massFloat(bin.mass[1])
	}
	return r
}

// spreadField lists what there is under a name.
func spreadField(f *jobs.Fields, name string, of **spread) {
	if !f.Has(name, *of != nil) {
		return
	}
	if f.Reading() {
		*of = newSpread()
	}
	b := *of
	indices := make([]int64, len(b.bins))
	for i, bin := range b.bins {
		indices[i] = bin.index
	}
	jobs.List(f, name, &indices)
	jobs.Flag[int32](f, name+".begun", &b.begun)
	f.Int(name+".exponent", &b.exponent, -1<<12, 1<<12)
	f.Require(len(indices) <= spreadBins && b.begun == (len(indices) > 0), "a spread of %d bins", len(indices))
	if f.Reading() {
		b.bins = make([]spreadBin, len(indices))
		for i, index := range indices {
			b.bins[i].index = index
		}
	}
	for side := range 2 {
		wholeField(f, fmt.Sprint(name, ".above.", side), &b.above[side])
		for i := range b.bins {
			wholeField(f, fmt.Sprint(name, ".", i, ".", side), &b.bins[i].mass[side])
		}
	}
	f.Check(b.check)
}

// check refuses bins that a ranking does not leave.
func (b *spread) check() error {
	for i, bin := range b.bins {
		if i > 0 && (bin.index >= b.bins[i-1].index || b.bins[0].index-bin.index >= spreadBins) ||
			bin.index > 1<<(spreadBits+1) || bin.index < -1<<(spreadBits+1) {
			return jobs.Malformed("bin %d of a spread has the place %d", i, bin.index)
		}
	}
	return nil
}
