package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// unpruned is a round of seeding with all distances: to every seed, of every record, in each round.
func (p *seedPhase) unpruned(ctx context.Context, s *state, leaf jobs.Leaf) (*seedDraw, *nearness, error) {
	d, near, width := newSeedDraw(p.job, s, kernelops.Generic(), 0), &nearness{}, s.space.Width
	centers := wide(s.seeds)
	err := p.leaf(ctx, s.space, leaf, false, func(c chunk) error {
		for i := range c.IDs {
			sqDist, seed := 1.0, int32(0)
			if len(s.seeds) > 0 {
				sqDist = math.Inf(1)
			}
			for j := range len(s.seeds) / width {
				if v := rows.SquaredDistance(c.X.Row(i), centers[j*width:(j+1)*width]); v < sqDist {
					sqDist, seed = v, int32(j)
				}
			}
			near.sqDist, near.seed = append(near.sqDist, sqDist), append(near.seed, seed)
			d.addUnpruned(s, c, i, sqDist, seed)
		}
		return nil
	})
	return d, near, err
}

// addUnpruned takes in one record.
func (d *seedDraw) addUnpruned(s *state, c chunk, i int, sqDist float64, seed int32) {
	w, width := c.Weight(i), s.space.Width
	if d.weigh {
		d.weights.Add(int(seed), w)
		d.potential.Add(0, float64(w*sqDist))
		return
	}
	for b := range d.branches {
		to, nearer := &d.branches[b], sqDist
		if len(s.candidates) > 0 {
			candidate := wide(s.candidates[b*width : (b+1)*width])
			nearer = min(nearer, rows.SquaredDistance(c.X.Row(i), candidate))
			to.potential.join(plainFixed(d.at, float64(w*nearer)))
		} else {
			d.largest = max(d.largest, float64(w*nearer))
		}
		if b == 0 {
			d.potential.Add(0, float64(w*nearer))
		}
		if d.cosine() && zero(c.X.Row(i)) {
			continue
		}
		key := math.Inf(1)
		switch {
		case !d.farthest:
			key = sampling.Arrival(d.race.Chance(c.IDs[i]), float64(w*nearer), math.Inf(1))
		case w > 0 && nearer > 0:
			key = -nearer
		}
		to.sample.Offer(key, c.IDs[i], c.X.Row(i))
	}
}

// plainFixed is fixedPoint.of by package math.
func plainFixed(at fixedPoint, v float64) potential {
	if v == 0 {
		return potential{}
	}
	fraction, exponent := math.Frexp(v)
	digits, shift := uint64(math.Ldexp(fraction, 53)), exponent-53-int(at)
	if shift < 0 {
		return potential{0, digits >> min(-shift, 63)}
	}
	return potential{digits >> (64 - shift), digits << shift}
}

// unprunedWidths are the silhouette widths of a sample whose records are in these clusters, by all pairs.
func unprunedWidths(x kernelops.Matrix, index []int32, k int, cosine bool) []float64 {
	members, widths := make([]int, k), make([]float64, x.Rows)
	for _, j := range index {
		members[j]++
	}
	for i := range widths {
		sums, row := make([]float64, k), wide(x.Row(i))
		for other := range widths {
			sums[index[other]] += distance(rows.SquaredDistance(x.Row(other), row), cosine)
		}
		own, b := index[i], math.Inf(1)
		for j, n := range members {
			if j != int(own) && n > 0 {
				b = min(b, sums[j]/float64(n))
			}
		}
		if a := sums[own] / float64(members[own]-1); members[own] > 1 && !math.IsInf(b, 1) && max(a, b) > 0 {
			widths[i] = (b - a) / max(a, b)
		}
	}
	return widths
}

// hostileTables are records on which bounds are tried: by name.
func hostileTables() map[string][][]float32 {
	r, tables := rand.New(rand.NewPCG(34, 35)), map[string][][]float32{}
	add := func(name string, n, width int, at func(i, j int) float64) {
		table := make([][]float32, n)
		for i := range table {
			table[i] = make([]float32, width)
			for j := range table[i] {
				table[i][j] = float32(at(i, j))
			}
		}
		tables[name] = table
	}
	normal := func(int, int) float64 { return r.NormFloat64() }
	tight := func(i, j int) float64 { return float64(i%13*(j+1)*(i%13+j))*50 + r.NormFloat64() }
	add("normal", 200, 12, normal)
	add("line", 250, 1, func(i, _ int) float64 { return float64(i*i%1009) / 8 })
	add("tight groups", 300, 5, tight)
	add("tight groups, wide", 150, 67, tight)
	add("equal rows", 200, 4, func(i, j int) float64 { return float64(i % 23 * (j + 1) % 7) })
	add("ties", 256, 3, func(i, j int) float64 { return float64(i >> (3 * j) & 7) })
	add("denormal", 200, 3, func(i, j int) float64 { return math.Ldexp(float64(i>>(3*j)&7), -149) })
	add("1e30", 200, 4, func(i, j int) float64 { return 1e30 * tight(i, j) })
	add("far from zero", 200, 6, func(i, j int) float64 { return 1e6 + tight(i, j)/64 })
	add("scales", 200, 6, func(i, j int) float64 { return r.NormFloat64() * math.Pow(10, float64(6*j-20)) })
	add("zeros", 200, 5, func(i, j int) float64 { return float64(i%3) * float64(i%17-8) * float64((i+j)%5-2) })
	add("two scales", 200, 2, func(i, _ int) float64 { return r.NormFloat64() * math.Pow(10, float64(i%9)-4) })
	return tables
}

// weighted are a table's records in one leaf, some of them with other weights than 1, 0 among them.
func weighted(table [][]float32, weights bool) []jobstest.Record {
	records := jobstest.DenseRecords(table)
	for i := range records {
		if weights {
			records[i].Weight = float32(i*i%5) / 2
		}
	}
	return records
}

// bytesOf tells what a leaf returns.
func bytesOf(d *seedDraw, near *nearness) string {
	return string(jobs.ArraysOf(d).Encode()) + string(jobs.ArraysOf(near).Encode())
}
