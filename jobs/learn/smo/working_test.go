package smo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// working is a classifier's dual from coefficients of 0.
func working(k, y, cost []float64) *Working {
	w := &Working{N: len(y), K: k, Y: y, Cost: cost, Alpha: make([]float64, len(y)), Gradient: make([]float64, len(y))}
	for i := range w.Gradient {
		w.Gradient[i] = -1
	}
	return w
}

func equal(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// kernelMatrix computes all values of a kernel.
func kernelMatrix(x [][]float64, kernel func(x, y []float64) float64) []float64 {
	k := make([]float64, 0, len(x)*len(x))
	for _, a := range x {
		for _, b := range x {
			k = append(k, kernel(a, b))
		}
	}
	return k
}

func product(x, y []float64) (sum float64) {
	for j := range x {
		sum += x[j] * y[j]
	}
	return sum
}

// objective is a'Qa/2 + p'a.
func (w *Working) objective(p []float64) (sum float64) {
	for i, a := range w.Alpha {
		sum += p[i] * a
		for j, b := range w.Alpha {
			sum += a * b * w.Y[i] * w.Y[j] * w.K[i*w.N+j] / 2
		}
	}
	return sum
}

// extremes are those of the variables as they stand.
func (w *Working) extremes() Extremes {
	e := NewExtremes()
	for i, a := range w.Alpha {
		up, low := Sides(a, w.Y[i], w.Cost[i])
		e.Add(-w.Y[i]*w.Gradient[i], up, low)
	}
	return e
}

// Two points 1 and -1 have w = 1, with a coefficient of 1/2 each; a cost below that is met exactly.
func TestTwoPoints(t *testing.T) {
	k := []float64{1, -1, -1, 1}
	w := working(k, []float64{1, -1}, equal(2, 1))
	if steps := w.Solve(1e-9, 9); steps != 1 || w.Alpha[0] != 0.5 || w.Alpha[1] != 0.5 || w.Gradient[0] != 0 {
		t.Errorf("%d steps to %+v", steps, w)
	}
	if e := w.extremes(); e.Violation() != 0 || e.Bias() != 0 {
		t.Errorf("%+v", e)
	}
	w = working(k, []float64{1, -1}, []float64{0.1, 0.7})
	if steps := w.Solve(1e-9, 9); steps != 1 || w.Alpha[0] != 0.1 || w.Alpha[1] != 0.1 {
		t.Errorf("%d steps to %+v", steps, w)
	}
	if w = working(k, []float64{1, 1}, equal(2, 1)); w.Solve(0, 9) != 0 { // a class alone
		t.Errorf("%+v", w)
	}
}

// The four points of XOR under (<x, y> + 1)^2 have coefficients of 1/8, so that f = -x1 x2 (Haykin, Neural Networks,
// section 6.6).
func TestXOR(t *testing.T) {
	x := [][]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
	k := kernelMatrix(x, func(x, y []float64) float64 { return math.Pow(product(x, y)+1, 2) })
	w := working(k, []float64{-1, 1, 1, -1}, equal(4, 10))
	w.Solve(1e-12, 1000)
	for i, a := range w.Alpha {
		if math.Abs(a-0.125) > 1e-12 {
			t.Errorf("alpha %d is %v", i, a)
		}
	}
	if v := w.objective(equal(4, -1)); math.Abs(v+0.25) > 1e-12 || math.Abs(w.extremes().Bias()) > 1e-12 {
		t.Error(v, w.extremes())
	}
}

// Ties go to the lowest index, in both choices.
func TestTies(t *testing.T) {
	k := kernelMatrix([][]float64{{1}, {1}, {-1}, {-1}}, product)
	w := working(k, []float64{1, 1, -1, -1}, equal(4, 1))
	if w.Solve(1e-9, 1); !slices.Equal(w.Alpha, []float64{0.5, 0, 0.5, 0}) {
		t.Error(w.Alpha)
	}
	// Equal points of both classes have no curvature: they go to the nearer bound.
	w = working([]float64{1, 1, 1, 1}, []float64{1, -1}, []float64{3, 2})
	if steps := w.Solve(1e-9, 9); steps != 1 || !slices.Equal(w.Alpha, []float64{2, 2}) {
		t.Error(steps, w.Alpha)
	}
	w = working([]float64{math.NaN(), 0, 0, 1}, []float64{1, -1}, equal(2, 1))
	if steps := w.Solve(1e-9, 9); steps != 0 || !slices.Equal(w.Alpha, []float64{0, 0}) {
		t.Error(steps, w.Alpha)
	}
}

// random draws a problem over n variables, with other variables behind its gradient, and its p.
func random(r *rand.Rand, n int) (w *Working, p []float64) {
	x, width := make([][]float64, n), 1+r.IntN(4)
	for i := range x {
		for range width {
			x[i] = append(x[i], r.NormFloat64())
		}
		if i > 0 && r.IntN(6) == 0 {
			x[i] = x[r.IntN(i)]
		}
	}
	kernel := product
	if r.IntN(2) == 0 {
		kernel = func(x, y []float64) float64 {
			return math.Exp(-(product(x, x) + product(y, y) - 2*product(x, y)))
		}
	}
	w = &Working{N: n, K: kernelMatrix(x, kernel)}
	for range n {
		c := math.Ldexp(1, r.IntN(6)-3)
		w.Y, w.Cost = append(w.Y, float64(2*r.IntN(2)-1)), append(w.Cost, c)
		w.Alpha = append(w.Alpha, c*[]float64{0, 1, r.Float64()}[r.IntN(3)])
		p = append(p, r.NormFloat64())
	}
	w.Gradient = w.gradient(p)
	return w, p
}

// gradient is Qa + p.
func (w *Working) gradient(p []float64) []float64 {
	g := slices.Clone(p)
	for i := range g {
		for j, a := range w.Alpha {
			g[i] += w.Y[i] * w.Y[j] * w.K[i*w.N+j] * a
		}
	}
	return g
}

// In small problems, no choice of coefficients at bounds, with the others at the optimum that equations give, is
// better.
func TestBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 400 {
		w, p := random(r, 2+r.IntN(4))
		before := product(w.Y, w.Alpha)
		least := w.bruteForce(p, before)
		steps := w.Solve(1e-12, 100_000)
		if got := w.objective(p); math.Abs(got-least) > 1e-9*(1+math.Abs(least)) {
			t.Fatalf("problem %d: %v after %d steps, not %v: %+v", n, got, steps, least, w)
		}
		w.consistent(t, p, before, 1e-11)
	}
}

// consistent checks the box, the equation and the gradient.
func (w *Working) consistent(t *testing.T, p []float64, before, tol float64) {
	t.Helper()
	for i, a := range w.Alpha {
		if a < 0 || a > w.Cost[i] {
			t.Fatalf("alpha %d is %v, beyond 0 to %v", i, a, w.Cost[i])
		}
	}
	if off := math.Abs(product(w.Y, w.Alpha) - before); off > 1e-13*float64(w.N)*slices.Max(w.Cost) {
		t.Fatalf("y'a is off by %g", off)
	}
	for i, g := range w.gradient(p) {
		if math.Abs(g-w.Gradient[i]) > tol*(1+slices.Max(w.Cost)*float64(w.N)) {
			t.Fatalf("gradient %d is %v, not %v", i, w.Gradient[i], g)
		}
	}
}

// bruteForce is the least objective over all ways to put coefficients at 0, at their costs, or between.
func (w *Working) bruteForce(p []float64, sum float64) float64 {
	least := math.Inf(1)
	states := int(math.Pow(3, float64(w.N)))
	for state := range states {
		trial := &Working{N: w.N, K: w.K, Y: w.Y, Cost: w.Cost, Alpha: make([]float64, w.N)}
		var free []int
		for i, rest := 0, state; i < w.N; i, rest = i+1, rest/3 {
			switch rest % 3 {
			case 1:
				trial.Alpha[i] = w.Cost[i]
			case 2:
				free = append(free, i)
			}
		}
		if trial.between(free, p, sum) {
			least = min(least, trial.objective(p))
		}
	}
	return least
}

// between sets the free coefficients to the optimum for the others, and reports whether they are allowed: Q_FF a_F +
// y_F b = -p_F - Q_FB a_B, and y_F'a_F = sum - y_B'a_B.
func (w *Working) between(free []int, p []float64, sum float64) bool {
	n := len(free)
	g, a := w.gradient(p), make([][]float64, n+1)
	for r := range a {
		a[r] = make([]float64, n+2)
	}
	for r, i := range free {
		for c, j := range free {
			a[r][c] = w.Y[i] * w.Y[j] * w.K[i*w.N+j]
		}
		a[r][r] += 1e-11
		a[r][n], a[n][r], a[r][n+1] = w.Y[i], w.Y[i], -g[i]
	}
	a[n][n+1] = sum - product(w.Y, w.Alpha)
	if n == 0 {
		return math.Abs(a[0][1]) < 1e-12
	}
	eliminate(a)
	for r, i := range free {
		v := a[r][n+1]
		if !(v > -1e-11 && v < w.Cost[i]+1e-11) {
			return false
		}
		w.Alpha[i] = v
	}
	return math.Abs(product(w.Y, w.Alpha)-sum) < 1e-10
}

// eliminate solves equations by Gauss and Jordan, with pivots.
func eliminate(a [][]float64) {
	for c := range a {
		best := c
		for r := c; r < len(a); r++ {
			if math.Abs(a[r][c]) > math.Abs(a[best][c]) {
				best = r
			}
		}
		a[c], a[best] = a[best], a[c]
		for r := range a {
			if r == c {
				continue
			}
			part := a[r][c] / a[c][c]
			for k := c; k < len(a[r]); k++ {
				a[r][k] -= part * a[c][k]
			}
		}
	}
	for r := range a {
		a[r][len(a)] /= a[r][r]
	}
}

// A step takes no memory: Solve takes its own once.
func TestAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	w, _ := random(r, 64)
	if n := testing.AllocsPerRun(5, func() { w.Solve(0, 50) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSolve(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	start, p := random(r, 512)
	steps := 0
	for b.Loop() {
		w := *start
		w.Alpha = make([]float64, w.N)
		w.Gradient = slices.Clone(p)
		steps += w.Solve(1e-12, 2000)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
