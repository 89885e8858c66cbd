package kmeans

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// seedDraw is one leaf's part of a round of seeding.
type seedDraw struct {
	job
	race      *sampling.Race
	farthest  bool // by distance alone
	weigh     bool
	branches  []branch
	weights   *sums.Exact // of each seed, when weighed: the weights of the records nearest to it
	potential *sums.Exact // sum of w D^2, of the first branch
	largest   float64     // of all w D^2

	chances []float64 // of the rows of a chunk
	costs   []float64 // w D^2 of the same

	// greedy
	at     fixedPoint
	rest   potential   // the sum of w D^2 of all records, without candidates
	fixed  []potential // of the rows of a chunk, what they are in it
	early  []int32     // those that may be drawn in a branch
	nearer []float64   // their squared distances to the nearest seed, if a candidate is one
	gaps   []float64   // of each seed to the nearest candidate; nil where they are not asked for
	among  []int32     // rows of a chunk that any candidate reaches
}

// branch is what a round finds if one of the candidates becomes a seed. Without candidates there is one branch.
type branch struct {
	sample    *sampling.Sample // the next draws
	potential potential        // what the candidate would leave of the sum of w D^2; until the end, less than rest by
	reach     *reach           // of the candidate
}

// newSeedDraw begins the draws of a leaf: of that number of records, where there are candidates.
func newSeedDraw(j job, s *state, ops *kernelops.Set, records int) *seedDraw {
	draws := j.draws(s.round)
	d := &seedDraw{job: j, farthest: j.params.Init == initFarthest && s.round > 0, weigh: draws == 0,
		race: sampling.NewRace(j.seed, fmt.Sprintf("kmeans/%s/%d/%d", j.seedName(), s.restart, s.round)),
		at:   newFixedPoint(s.largest), weights: sums.NewExact(0), potential: sums.NewExact(1)}
	for candidate := range slices.Chunk(s.candidates, s.space.Width) {
		d.branches = append(d.branches, branch{sample: sampling.New(max(1, draws)),
			reach: newReach(ops, wide(candidate), s.seeds, records)})
	}
	for b := range d.branches {
		d.gaps = leastOf(d.gaps, d.branches[b].reach.gaps)
	}
	if len(d.branches) == 0 {
		d.branches = []branch{{sample: sampling.New(max(1, draws))}}
	}
	if d.weigh {
		d.weights = sums.NewExact(len(s.seeds) / s.space.Width)
	}
	return d
}

// add takes in rows with their squared distances to the nearest seed: 1 each where there is no seed yet.
func (d *seedDraw) add(c chunk, sqDists []float64, seeds []int32) {
	if d.weigh {
		for i := range c.IDs {
			d.weights.Add(int(seeds[i]), c.Weight(i))
			d.potential.Add(0, float64(c.Weight(i)*sqDists[i]))
		}
		return
	}
	d.chances = d.chances[:0]
	for _, id := range c.IDs {
		chance := 0.0
		if !d.farthest {
			chance = d.race.Chance(id)
		}
		d.chances = append(d.chances, chance)
	}
	d.setCosts(c, sqDists)
	if d.branches[0].reach != nil {
		d.try(c, sqDists, seeds)
		return
	}
	for _, cost := range d.costs {
		d.largest = max(d.largest, cost)
	}
	d.potential.AddAll(0, d.costs)
	sample := d.branches[0].sample
	for i, sqDist := range sqDists {
		if !d.late(i, sqDist, sample.Limit()) {
			d.offer(sample, c, i, sqDist)
		}
	}
}

// setCosts sets the w D^2 of a chunk.
func (d *seedDraw) setCosts(c chunk, sqDists []float64) {
	d.costs = append(d.costs[:0], sqDists...)
	if c.Weights != nil {
		for i, sqDist := range sqDists {
			d.costs[i] = float64(c.Weight(i) * sqDist)
		}
	}
}

// late reports whether a record is certainly not drawn before the limit, even by a candidate that is nearer than its
// squared distance.
func (d *seedDraw) late(i int, sqDist, limit float64) bool {
	if d.farthest {
		return -sqDist > limit
	}
	return sampling.Late(d.chances[i], d.costs[i], limit)
}

// offer may draw a record.
func (d *seedDraw) offer(sample *sampling.Sample, c chunk, i int, sqDist float64) {
	if d.cosine() && zero(c.X.Row(i)) {
		return // no direction to be a center
	}
	sample.Offer(d.key(d.chances[i], c.Weight(i), sqDist, sample.Limit()), c.IDs[i], c.X.Row(i))
}

// key is what a record is drawn by, the least first: its time in a race of weight w D^2, or its distance.
func (d *seedDraw) key(chance, weight, sqDist, limit float64) float64 {
	switch {
	case !d.farthest:
		return sampling.Arrival(chance, float64(weight*sqDist), limit)
	case weight > 0 && sqDist > 0:
		return -sqDist
	}
	return math.Inf(1)
}

// end completes the potentials of the branches.
func (d *seedDraw) end() {
	for b := range d.branches {
		d.branches[b].potential.join(d.rest)
	}
}

// Fields lists the draw, the potential of each branch in two words.
func (d *seedDraw) Fields(f *jobs.Fields) {
	var words []uint64
	for _, b := range d.branches {
		words = append(words, b.potential.high, b.potential.low)
	}
	jobs.List(f, "potentials", &words)
	f.Require(len(words) > 0 && len(words)%2 == 0, "a draw with %d parts of potentials", len(words))
	jobs.Make(f, &d.weights).Fields(f, "weights")
	jobs.Make(f, &d.potential).Fields(f, "potential")
	f.Require(d.potential.Len() == 1, "a draw with %d sums", d.potential.Len())
	jobs.Scalar(f, "largest", &d.largest)
	if f.Reading() {
		d.branches = make([]branch, len(words)/2)
	}
	for b := range d.branches {
		d.branches[b].potential = newPotential(words[2*b:])
		sampling.Fields(f, fmt.Sprintf("draws.%d", b), &d.branches[b].sample)
	}
}

// plus keeps the least keys of two neighbors and adds their sums.
func (d *seedDraw) plus(right *seedDraw) (_ *seedDraw, err error) {
	if len(d.branches) != len(right.branches) {
		return nil, jobs.Malformed("draws for %d and %d candidates", len(d.branches), len(right.branches))
	}
	for b, from := range right.branches {
		if err := d.branches[b].sample.Merge(from.sample); err != nil {
			return nil, err
		}
		d.branches[b].potential.join(from.potential)
	}
	d.largest = max(d.largest, right.largest)
	if d.potential, err = d.potential.Plus(right.potential); err != nil {
		return nil, err
	}
	d.weights, err = d.weights.Plus(right.weights)
	return d, err
}

// best is the branch of the least potential, the first drawn at a tie.
func (d *seedDraw) best() int {
	best := 0
	for b := range d.branches {
		if d.branches[b].potential.below(d.branches[best].potential) {
			best = b
		}
	}
	return best
}

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

// of is a number from 0 to the largest as a potential.
func (at fixedPoint) of(v float64) potential {
	if !(v > 0) {
		return potential{}
	}
	word := math.Float64bits(v)
	digits, exponent := word&(1<<52-1)|1<<52, int(word>>52)-1023-52
	if word < 1<<52 { // subnormal
		fraction, e := math.Frexp(v)
		digits, exponent = uint64(math.Ldexp(fraction, 53)), e-53 //lint:checked below 2^53
	}
	shift := exponent - int(at)
	if shift < 0 {
		return potential{0, digits >> min(-shift, 63)}
	}
	shift = min(shift, 64) // 27 at most, for a number up to the largest
	return potential{digits >> (64 - shift), digits << shift}
}

// leave takes another potential of the same fixed point out again. What is below 0 in between is made up for by the
// end: sums are modulo 2^128.
func (p *potential) leave(q potential) {
	var borrow uint64
	p.low, borrow = bits.Sub64(p.low, q.low, 0)
	p.high, _ = bits.Sub64(p.high, q.high, borrow)
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
