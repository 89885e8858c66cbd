package kmeans

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

const (
	// leastShare is the least responsibility; one below it is 0.
	leastShare = 0x1p-24

	// maxSoft bounds k: a record may have a responsibility of every cluster.
	maxSoft = 1 << 12

	// softReach times 1/stiffness is more than what a squared distance may be above the least one: exp of it is 2^-24.
	softReach = 16.64
)

// responder computes responsibilities of rows. It is an assigner too: a record's nearest center has its greatest
// responsibility. One goroutine.
type responder struct {
	*assigner
	k         float64
	stiffness float64
	alone     float64 // log(1/k) / stiffness
	within    kernelops.Within
	shares    []float64 // of each center in within
	energies  []float64 // of each row: -log(1/k sum_j exp(-stiffness d_j)) / stiffness, over responsibilities above 0
}

func newResponder(near *assigner, k int, stiffness float64) *responder {
	alone := float64(fmath.Log(1/float64(k)) / stiffness)
	return &responder{assigner: near, k: float64(k), stiffness: stiffness, alone: alone}
}

// respond computes the responsibilities of the rows of a chunk.
func (r *responder) respond(c chunk) error {
	if r.packed == nil {
		return jobs.Malformed("records have no centers")
	}
	r.within.Find(r.ops, c.X, r.packed, softReach/r.stiffness, &r.ws)
	r.shares = kernelops.Resize(r.shares, len(r.within.Index))
	r.index, r.sqDist, r.energies = r.index[:0], r.sqDist[:0], r.energies[:0]
	for i := range c.IDs {
		from, to := r.within.Start[i], r.within.Start[i+1]
		if from == to {
			return beyond(c.IDs[i])
		}
		at := from
		for e := from + 1; e < to; e++ {
			if r.within.SqDist[e] < r.within.SqDist[at] {
				at = e
			}
		}
		least := r.within.SqDist[at]
		all := share(r.shares[from:to], r.within.SqDist[from:to], least, r.stiffness)
		r.index, r.sqDist = append(r.index, r.within.Index[at]), append(r.sqDist, least)
		if all != 1 { // most records of a stiff round have one center
			least -= float64(fmath.Log(all/r.k) / r.stiffness)
		} else {
			least -= r.alone
		}
		r.energies = append(r.energies, least)
	}
	return nil
}

// share sets shares to the responsibilities of centers at some squared distances. Their terms are exp(-stiffness (d -
// least)); one below 2^-24, or below 2^-24 of the sum of the others, gives a responsibility of 0. The responsibilities
// add up to 1. share returns the sum of their terms.
func share(shares, sqDists []float64, least, stiffness float64) float64 {
	if len(shares) == 1 {
		shares[0] = 1
		return 1
	}
	all := 0.0
	for e, d := range sqDists {
		if shares[e] = fmath.Exp(-float64(stiffness * (d - least))); shares[e] >= leastShare {
			all += shares[e]
		}
	}
	floor, kept := float64(leastShare*all), 0.0
	for e, v := range shares {
		if v < floor {
			shares[e] = 0
		} else {
			kept += v
		}
	}
	for e := range shares {
		shares[e] /= kept
	}
	return kept
}

// of returns the centers of row i and its responsibilities, some of them 0.
func (r *responder) of(i int) (centers []int32, shares []float64) {
	from, to := r.within.Start[i], r.within.Start[i+1]
	return r.within.Index[from:to], r.shares[from:to]
}

// toAll sets columns[j] to the responsibilities of center j for the rows from up to, not including, to. They must be 0.
func (r *responder) toAll(columns [][]float64, from, to int) {
	for i := from; i < to; i++ {
		centers, shares := r.of(i)
		for e, j := range centers {
			columns[j][i-from] = shares[e]
		}
	}
}

// shareOut computes the responsibilities of the records of a leaf, and adds up what each center gets of them.
// O(records * (k * width + m * width)) for m responsibilities above 0.
func (p *lloydPhase) shareOut(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*totals, error) {
	k := len(s.centers) / s.space.Width
	soft := newResponder(newAssigner(ops, s.centers, origin(s.space)), k, p.params.Stiffness)
	summer, print := newSoftSummer(k, s.space.Width, ops), newFingerprint(leaf.Index)
	err := p.leaf(ctx, s.space, leaf, s.round > 0, func(c chunk) error {
		if err := soft.respond(c); err != nil {
			return err
		}
		summer.add(soft, c)
		print.add(soft.index)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return summer.totals(print.sum())
}

// bufferFloats is how many numbers a softSummer gathers before they are added.
const bufferFloats = 1 << 14

// softSummer adds up responsibilities times rows. Each product w r x is rounded to float64, then to the sum of two
// float32 numbers, so by at most 2^-48 of it; the sums of these are exact. One goroutine.
type softSummer struct {
	width  int
	parts  [2]softPart // the nearest float32 of each product, and the float32 nearest to the rest
	beyond *sums.Exact // products beyond float32
	weight *sums.Exact // of each center: sum of w r but where that is 1
	ones   []int64     // of each center: how often w r is 1
	energy *sums.Exact // sum of w times the energy of a record
}

// softPart gathers rows for an adder.
type softPart struct {
	adder *sums.Adder
	rows  kernelops.Matrix
	used  int
	group []int32
}

func newSoftSummer(k, width int, ops *kernelops.Set) *softSummer {
	s := &softSummer{
		width: width, beyond: sums.NewExact(k * width), weight: sums.NewExact(k), ones: make([]int64, k),
		energy: sums.NewExact(1),
	}
	for i := range s.parts {
		rows := kernelops.NewMatrix(max(1, bufferFloats/width), width)
		s.parts[i] = softPart{adder: sums.NewAdder(k, width, ops), rows: rows, group: make([]int32, rows.Rows)}
	}
	return s
}

// add takes in rows whose responsibilities were just computed.
func (s *softSummer) add(soft *responder, c chunk) {
	for i := range c.IDs {
		w := c.Weight(i)
		s.energy.Add(0, float64(w*soft.energies[i]))
		centers, shares := soft.of(i)
		for e, j := range centers {
			p := float64(w * shares[e])
			switch {
			case p == 0:
				continue
			case p == 1:
				copy(s.parts[0].next(j), c.X.Row(i))
				s.ones[j]++
			default:
				s.product(int(j), p, c.X.Row(i))
				s.weight.Add(int(j), p)
			}
		}
	}
}

// product adds p times a row to what center j gets.
func (s *softSummer) product(j int, p float64, row []float32) {
	high, low := s.parts[0].next(int32(j))[:len(row)], s.parts[1].next(int32(j))[:len(row)]
	var beyond float32 // NaN once a product is beyond float32
	for d, x := range row {
		v := float64(p * float64(x))
		first := float32(v)
		high[d], low[d] = first, float32(v-float64(first))
		beyond += first - first
	}
	if beyond == 0 {
		return
	}
	for d, x := range row {
		if high[d]-high[d] != 0 {
			s.beyond.Add(j*s.width+d, float64(p*float64(x)))
			high[d], low[d] = 0, 0
		}
	}
}

// next returns the memory of another row, of a center.
func (p *softPart) next(center int32) []float32 {
	if p.used == p.rows.Rows {
		p.flush()
	}
	p.group[p.used] = center
	p.used++
	return p.rows.Row(p.used - 1)
}

func (p *softPart) flush() {
	p.adder.Dense(p.rows.RowRange(0, p.used), p.group[:p.used], nil)
	p.used = 0
}

// totals are those of a hard round, with the free energy in place of the cost.
func (s *softSummer) totals(fingerprint []uint64) (*totals, error) {
	total := s.beyond
	for j, n := range s.ones {
		s.weight.Add(j, float64(n))
	}
	for i := range s.parts {
		s.parts[i].flush()
		if err := sums.Join(&total, s.parts[i].adder.Rows().Sums); err != nil {
			return nil, err
		}
	}
	return &totals{sums.Rows{Width: s.width, Sums: total, Weight: s.weight}, s.energy, fingerprint}, nil
}
