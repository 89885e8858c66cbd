package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// boundCase is rows and centers whose rounds of k-means are run with bounds and without.
type boundCase struct {
	name string
	x    Matrix
	k    int
}

// lloyd moves centers to the means of their rows, roughly: both roads share it.
func lloyd(centers []float64, index []int32, x Matrix) []float64 {
	sums, counts := make([]float64, len(centers)), make([]float64, len(centers)/x.Cols)
	for i, j := range index {
		counts[j]++
		for c, v := range x.Row(i) {
			sums[int(j)*x.Cols+c] += float64(v)
		}
	}
	next := slices.Clone(centers)
	for i := range next {
		if n := counts[i/x.Cols]; n > 0 {
			next[i] = sums[i] / n
		}
	}
	return next
}

func meanOf(x Matrix) []float32 {
	mean := make([]float32, x.Cols)
	for j := range mean {
		sum := 0.0
		for i := range x.Rows {
			sum += float64(x.Row(i)[j])
		}
		mean[j] = float32(sum / float64(x.Rows))
	}
	return mean
}

// cases of ordinary and of adversarial data.
func boundCases() []boundCase {
	r := rand.New(rand.NewPCG(15, 2))
	var cases []boundCase
	add := func(name string, rows, cols, k int, at func(i, j int) float64) {
		x := Matrix{Data: make([]float32, rows*(cols+3)), Rows: rows, Cols: cols, Stride: cols + 3}
		for i := range rows {
			for j := range x.Row(i) {
				x.Row(i)[j] = float32(at(i, j))
			}
		}
		cases = append(cases, boundCase{name, x, k})
	}
	for _, shape := range [][3]int{{300, 1, 5}, {500, 2, 17}, {400, 7, 33}, {300, 16, 100}, {700, 32, 256},
		{257, 33, 40}, {200, 130, 20}, {120, 784, 10}, {900, 3, 600}} {
		normal := func(int, int) float64 { return r.NormFloat64() }
		add(fmt.Sprintf("normal %v", shape), shape[0], shape[1], shape[2], normal)
	}
	blob := func(i, j int) float64 { return float64(100*((i*7+j*i)%40)) + r.NormFloat64() }
	add("tight groups", 600, 9, 40, blob)
	add("far from zero", 600, 9, 40, func(i, j int) float64 { return 1e6 + blob(i, j) })
	add("whole numbers, equal rows", 600, 4, 50, func(i, j int) float64 { return float64(r.IntN(4)) })
	add("equal rows", 200, 5, 20, func(i, j int) float64 { return float64(j) })
	add("denormal", 300, 6, 20, func(i, j int) float64 { return r.NormFloat64() * 1e-42 })
	add("small", 300, 6, 20, func(i, j int) float64 { return r.NormFloat64() * 1e-25 })
	add("large", 300, 6, 20, func(i, j int) float64 { return r.NormFloat64() * 1e30 })
	add("columns of different scale", 400, 8, 30, func(i, j int) float64 {
		return r.NormFloat64() * math.Pow(10, float64(3*j-12))
	})
	add("a row far out", 400, 5, 30, func(i, j int) float64 {
		if i == 200 {
			return 1e18
		}
		return r.NormFloat64()
	})
	add("grid", 900, 2, 60, func(i, j int) float64 { return float64((i / (1 + 29*j)) % 30) })
	return cases
}

// TestBoundsByTheLoop runs rounds with bounds on every set beside those of the generic loop. Centers also jump, swap
// and become equal between rounds.
func TestBoundsByTheLoop(t *testing.T) {
	for _, s := range All() {
		for _, c := range boundCases() {
			t.Run(s.Name+"/"+c.name, func(t *testing.T) { checkBounds(t, s, c) })
		}
	}
}

func checkBounds(t *testing.T, s *Set, c boundCase) {
	x, origin := c.x, meanOf(c.x)
	var centers []float64
	for i := range c.k {
		for _, v := range x.Row(i * x.Rows / c.k) {
			centers = append(centers, float64(v))
		}
	}
	var ws Workspace
	index, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
	s.Nearest(index, sqDist, x, s.PackCenters(centers, origin), &ws)
	b := NewBounds(s, s.PackCenters(centers, origin), x.Rows, NewByteRows(s, x, origin))
	if b == nil {
		t.Skip("no bounds here")
	}
	want, wantDist, r := make([]int32, x.Rows), make([]float64, x.Rows), rand.New(rand.NewPCG(1, 2))
	for round := range 10 {
		centers = lloyd(centers, index, x)
		disturb(centers, x.Cols, round, r)
		if !b.Move(s.PackCenters(centers, origin)) {
			return
		}
		before := slices.Clone(index)
		var moved, from []int32
		for at, step := 0, 0; at < x.Rows; at += step {
			step = min(1+r.IntN(200), x.Rows-at)
			m, f := b.Nearest(index[at:at+step], sqDist[at:at+step], x.RowRange(at, at+step), at, &ws)
			for i, row := range m {
				moved, from = append(moved, row+int32(at)), append(from, f[i])
			}
		}
		g := Generic()
		g.Nearest(want, wantDist, x, g.PackCenters(centers, origin), &ws)
		for i := range want {
			if want[i] != index[i] || wantDist[i] != sqDist[i] {
				t.Fatalf("round %d, row %d: center %d at %v, want %d at %v", round, i, index[i], sqDist[i], want[i],
					wantDist[i])
			}
		}
		if round%3 == 2 {
			b.checkLower(t, x)
		}
		for i, row := range moved {
			if before[row] != from[i] || before[row] == index[row] {
				t.Fatalf("row %d moved from %d to %d, had %d", row, from[i], index[row], before[row])
			}
			before[row] = index[row]
		}
		if !slices.Equal(before, index) {
			t.Fatal("rows moved that are not listed")
		}
	}
}

// disturb does to centers what rounds do seldom.
func disturb(centers []float64, cols, round int, r *rand.Rand) {
	k := len(centers) / cols
	i, j := r.IntN(k)*cols, r.IntN(k)*cols
	switch round {
	case 3: // swaps
		for c := range cols {
			centers[i+c], centers[j+c] = centers[j+c], centers[i+c]
		}
	case 5: // equal ones
		copy(centers[i:i+cols], centers[j:j+cols])
	case 7: // jumps
		for c := range cols {
			centers[i+c] = centers[j+c] + 1e-3
		}
	}
}

// checkLower compares bounds with the distances that they are about.
func (b *Bounds) checkLower(t *testing.T, x Matrix) {
	t.Helper()
	k := len(b.place)
	d, each := make([]float64, k), make([]int32, k)
	for j := range each {
		each[j] = int32(j)
	}
	for i := range x.Rows {
		least, at := [boundGroups]float64{}, int32(0)
		b.set.groupDistances(d, x.Cols, x.Row(i), 0, b.values, each)
		for j := range d {
			if d[j] < d[at] {
				at = int32(j)
			}
		}
		for g := range least {
			least[g] = math.Inf(1)
		}
		for j, place := range b.place {
			if g := int(place) / (b.perGroup * panelLanes); int32(j) != at {
				least[g] = min(least[g], d[j])
			}
		}
		for g, l := range b.lower[i*boundGroups:][:b.groups] {
			if l > 0 && float64(l) > math.Sqrt(least[g])*(1+0x1p-30)+0x1p-126 {
				t.Fatalf("row %d, group %d: bound %v of %v", i, g, l, math.Sqrt(least[g]))
			}
		}
	}
}
