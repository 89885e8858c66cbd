package kernelops

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// projectionDigest is the promise of Projection: SHA-256 over 100 rows of 101 elements.
const projectionDigest = "fa5dc7b08c759c1ec8d4633c8d5eb02e0cf84e917c73691f67c1a370166de2b2"

func TestProjectionDigest(t *testing.T) {
	p, row := NewProjection(2026, "digest", 101), make([]float32, 101)
	h := sha256.New()
	for i := range 100 {
		p.Row(row, i*i*i)
		if err := binary.Write(h, binary.LittleEndian, row); err != nil {
			t.Fatal(err)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != projectionDigest {
		t.Errorf("digest of the matrix is %s, want %s", got, projectionDigest)
	}
}

// TestProjectionByHand works a projection of one row to one column out by its definition.
func TestProjectionByHand(t *testing.T) {
	p, r := NewProjection(1, "hand", 1), make([]float32, 1)
	var v [2]float32
	for i := range v {
		p.Row(r, i)
		v[i] = r[0]
	}
	for _, s := range All() {
		dst := Matrix{Data: []float32{99}, Rows: 1, Cols: 1, Stride: 1}
		s.Project(p, dst, Matrix{Data: []float32{3, -2}, Rows: 1, Cols: 2, Stride: 2}, 0)
		equalBits32(t, s.Name, dst.Data, []float32{fma32(-2, v[1], float32(3*v[0]))})
	}
}

// TestProjectCuts cuts the rows into batches and the columns into slices, at random, on every set:
// the bits are those of the loop in the doc comment.
func TestProjectCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 0))
	for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 2}, {4, 70, 33}, {2, 3, projectionBlock + 3}, {5, 300, 130},
		{7, 2*projectionBlock/64 + 3, 64}, {0, 3, 4}, {3, 0, 4}} {
		rows, cols, k := shape[0], shape[1], shape[2]
		p := NewProjection(5, "cuts", k)
		o := newOperands(r, rows, cols, 3, 1, hardData32(22)["normal"])
		want := projectLoop(p, o.x)
		for _, s := range All() {
			for try := range 4 {
				dst := newOperands(r, rows, k, 2, 3, func() float32 { return 99 }).x // overwritten
				projectCut(s, r, p, dst, o.x, try > 0)
				for i := range rows {
					equalBits32(t, fmt.Sprintf("%s %v, cut %d, row %d", s.Name, shape, try, i), dst.Row(i), want.Row(i))
				}
			}
		}
	}
}

// projectCut is Project on random batches and slices, or on the whole.
func projectCut(s *Set, r *rand.Rand, p Projection, dst, x Matrix, cut bool) {
	if !cut || x.empty() {
		s.Project(p, dst, x, 0)
		return
	}
	for i := 0; i < x.Rows; {
		end := i + 1 + r.IntN(x.Rows-i)
		for k := 0; k < x.Cols; {
			to := k + 1 + r.IntN(x.Cols-k)
			s.Project(p, dst.RowRange(i, end), x.block(i, end, k, to), k)
			k = to
		}
		i = end
	}
}

// projectLoop is the doc comment of Project.
func projectLoop(p Projection, x Matrix) Matrix {
	dst := NewMatrix(x.Rows, p.Cols())
	row := make([]float32, p.Cols())
	for k := range x.Cols {
		p.Row(row, k)
		for i := range x.Rows {
			for j, c := range dst.Row(i) {
				dst.Row(i)[j] = fma32(x.Row(i)[k], row[j], c)
			}
		}
	}
	return dst
}

// TestProjectionRowPrefix takes part of a row: the same elements.
func TestProjectionRowPrefix(t *testing.T) {
	p, row := NewProjection(6, "prefix", 9), make([]float32, 9)
	p.Row(row, 3)
	for n := range row {
		part := []float32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7}
		p.Row(part[:n], 3)
		equalBits32(t, "prefix", part[:n], row[:n])
		if part[n] != 7 {
			t.Errorf("prefix of %d wrote more", n)
		}
	}
}

// TestProjectionIsNormal looks at 200,000 elements: their moments and distribution, and that
// neighbors, which share random bits, do not depend on each other.
func TestProjectionIsNormal(t *testing.T) {
	const rows, cols = 2000, 100
	p, row := NewProjection(7, "normal", cols), make([]float32, cols)
	var all, even, odd []float64
	for i := range rows {
		p.Row(row, i)
		for j, v := range row {
			z := float64(v) * math.Sqrt(cols)
			all = append(all, z)
			if j%2 == 0 {
				even = append(even, z)
			} else {
				odd = append(odd, z)
			}
		}
	}
	n := float64(len(all))
	within := func(what string, got, want, deviation float64) {
		t.Helper()
		if math.Abs(got-want) > 4*deviation {
			t.Errorf("%s is %v, want %v within %v", what, got, want, 4*deviation)
		}
	}
	within("mean", stat.Mean(all, nil), 0, 1/math.Sqrt(n))
	within("variance", stat.Variance(all, nil), 1, math.Sqrt(2/n))
	within("skewness", stat.Skew(all, nil), 0, math.Sqrt(6/n))
	within("excess kurtosis", stat.ExKurtosis(all, nil), 0, math.Sqrt(24/n))
	within("correlation of neighbors", stat.Correlation(even, odd, nil), 0, math.Sqrt(2/n))
	square := func(v []float64) []float64 { return floats.MulTo(make([]float64, len(v)), v, v) }
	within("correlation of their squares", stat.Correlation(square(even), square(odd), nil), 0, math.Sqrt(2/n))
	slices.Sort(all)
	largest := 0.0 // distance of the distribution functions (Kolmogorov and Smirnov)
	for i, z := range all {
		largest = max(largest, math.Abs(float64(i)/n-math.Erfc(-z/math.Sqrt2)/2))
	}
	if limit := 1.95 / math.Sqrt(n); largest > limit { // exceeded with probability 0.001
		t.Errorf("the distribution is %v from the normal one, limit %v", largest, limit)
	}
}

// TestProjectionKeepsDistances holds the theorem of Johnson and Lindenstrauss on 40 points in 1,000
// dimensions: with 4 ln n / (eps^2/2 - eps^3/3) columns, squared distances keep to 1 ± eps.
func TestProjectionKeepsDistances(t *testing.T) {
	const n, d, eps = 40, 1000, 0.3
	k := int(math.Ceil(4 * math.Log(n) / (eps*eps/2 - eps*eps*eps/3)))
	x := newOperands(rand.New(rand.NewPCG(23, 0)), n, d, 0, 0, hardData32(24)["normal"]).x
	dst := NewMatrix(n, k)
	Best().Project(NewProjection(8, "distances", k), dst, x, 0)
	sum, pairs := 0.0, 0.0
	for i := range n {
		for j := range i {
			before, after := floats.Distance(widen(x.Row(i)), widen(x.Row(j)), 2),
				floats.Distance(widen(dst.Row(i)), widen(dst.Row(j)), 2)
			distortion := after * after / (before * before)
			if math.Abs(distortion-1) > eps {
				t.Errorf("points %d and %d: squared distance times %v, want 1 ± %v", i, j, distortion, eps)
			}
			sum += distortion
			pairs++
		}
	}
	if mean := sum / pairs; math.Abs(mean-1) > 0.05 {
		t.Errorf("mean distortion %v with %d columns, want 1: the scale is wrong", mean, k)
	}
}

func TestProjectionMisuse(t *testing.T) {
	p, m := NewProjection(1, "misuse", 3), NewMatrix(2, 3)
	s := Best()
	for want, calls := range map[string][]func(){
		"kernelops: a projection needs columns": {func() { NewProjection(1, "", 0) },
			func() { NewProjection(1, "", -1) }},
		"kernelops: no such element of the projection": {func() { p.Row(make([]float32, 4), 0) },
			func() { p.Row(nil, -1) }, func() { s.Project(p, m, NewMatrix(2, 5), -1) }},
		"kernelops: result has the wrong shape": {func() { s.Project(p, m, NewMatrix(1, 5), 0) },
			func() { s.Project(p, NewMatrix(2, 2), NewMatrix(2, 5), 0) }},
		"kernelops: result overlaps an input": {func() { s.Project(p, m, m, 0) }},
		"kernelops: matrix data are short": {func() {
			s.Project(p, m,
				Matrix{Data: make([]float32, 9), Rows: 2, Cols: 5, Stride: 5}, 0)
		}},
	} {
		for i, call := range calls {
			if got := panicOf(call); got != want {
				t.Errorf("call %d: panic %v, want %q", i, got, want)
			}
		}
	}
}

// BenchmarkProject projects 4096 rows of 784 columns, the matrix included.
func BenchmarkProject(b *testing.B) {
	const rows, cols = 4096, 784
	for _, k := range []int{16, 64, 256} {
		p, x, dst := NewProjection(1, "bench", k), NewMatrix(rows, cols), NewMatrix(rows, k)
		fill(x.Data, hardData32(25)["normal"])
		for _, s := range All()[1:] {
			b.Run(fmt.Sprintf("%d/%s", k, s.Name), func(b *testing.B) {
				for b.Loop() {
					s.Project(p, dst, x, 0)
				}
				b.ReportMetric(2*rows*cols*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
		b.Run(fmt.Sprintf("%d/matrix", k), func(b *testing.B) {
			row := make([]float32, k)
			for b.Loop() {
				for i := range cols {
					p.Row(row, i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cols*k), "ns/element")
		})
	}
}
