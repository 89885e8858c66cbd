package smo

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

//go:embed testdata/machines.json
var machinesJSON []byte

// machine is a training set, and what scikit-learn makes of it; testdata/machines.py.
type machine struct {
	Name   string
	Kernel struct {
		Kernel string
		Gamma  float64
		Coef0  float64
		Degree float64
	}
	Unique                        bool
	Cost, Weight, Objective, Bias float64
	Y, Alpha                      []float64
	X                             [][]float64
}

func (m machine) value(x, y []float64) float64 {
	switch m.Kernel.Kernel {
	case "poly":
		return math.Pow(m.Kernel.Gamma*product(x, y)+m.Kernel.Coef0, m.Kernel.Degree)
	case "rbf":
		sum := 0.0
		for j := range x {
			sum += (x[j] - y[j]) * (x[j] - y[j])
		}
		return math.Exp(-m.Kernel.Gamma * sum)
	}
	return product(x, y)
}

func (m machine) begin() *Working {
	w := working(kernelMatrix(m.X, m.value), m.Y, equal(len(m.Y), m.Cost))
	for i, y := range m.Y {
		if y > 0 {
			w.Cost[i] *= m.Weight
		}
	}
	return w
}

// The objective is that of LIBSVM, and so are the coefficients where no others are optimal.
func TestMachinesOfScikitLearn(t *testing.T) {
	var machines []machine
	if err := json.Unmarshal(machinesJSON, &machines); err != nil || len(machines) < 12 {
		t.Fatal(len(machines), err)
	}
	for _, m := range machines {
		t.Run(m.Name, func(t *testing.T) {
			w := m.begin()
			steps := w.Solve(1e-10, 1_000_000)
			e := w.extremes()
			if e.Violation() > 1e-10 {
				t.Fatalf("a violation of %g after %d steps", e.Violation(), steps)
			}
			got := -w.objective(equal(w.N, -1))
			// LIBSVM keeps kernel values in float32: its coefficients may be short of the optimum, never beyond it.
			if off := got/m.Objective - 1; !(off > -1e-9 && off < 5e-9) {
				t.Errorf("the objective is %v, not %v: %g", got, m.Objective, got/m.Objective-1)
			}
			if !m.Unique {
				return
			}
			for i, a := range w.Alpha {
				if math.Abs(a/w.Cost[i]-m.Alpha[i]) > 1e-3 {
					t.Errorf("alpha %d is %v C, not %v C", i, a/w.Cost[i], m.Alpha[i])
				}
			}
			w.consistent(t, equal(w.N, -1), 0, 1e-9)
			free := slices.ContainsFunc(m.Alpha, func(a float64) bool { return a > 1e-3 && a < 1-1e-3 })
			if free && math.Abs(e.Bias()-m.Bias) > 1e-5*(1+math.Abs(m.Bias)) {
				t.Errorf("the bias is %v, not %v", e.Bias(), m.Bias)
			}
		})
	}
}

// decompose solves by working sets, as a distributed training does: candidates of blocks are merged, the working set
// is solved, and the gradient takes in what moved.
func (w *Working) decompose(size, each int, tol float64, most int) (rounds int) {
	for ; rounds < most; rounds++ {
		all := NewCandidates[struct{}](size)
		for from := 0; from < w.N; from += each {
			block := NewCandidates[struct{}](size)
			for i := from; i < min(from+each, w.N); i++ {
				up, low := Sides(w.Alpha[i], w.Y[i], w.Cost[i])
				block.Add(Candidate[struct{}]{Ordinal: int64(i), Value: -w.Y[i] * w.Gradient[i]}, up, low)
			}
			all.Merge(block)
		}
		if all.Extremes().Violation() <= tol {
			break
		}
		w.solvePart(all.Working(size), tol/2)
	}
	return rounds
}

func (w *Working) solvePart(set []Candidate[struct{}], tol float64) {
	part := &Working{N: len(set)}
	for _, a := range set {
		i := int(a.Ordinal)
		for _, b := range set {
			part.K = append(part.K, w.K[i*w.N+int(b.Ordinal)])
		}
		part.Y, part.Cost = append(part.Y, w.Y[i]), append(part.Cost, w.Cost[i])
		part.Alpha, part.Gradient = append(part.Alpha, w.Alpha[i]), append(part.Gradient, w.Gradient[i])
	}
	part.Solve(tol, 100_000)
	for s, a := range set {
		i := int(a.Ordinal)
		moved := w.Y[i] * (part.Alpha[s] - w.Alpha[i])
		w.Alpha[i] = part.Alpha[s]
		for j := range w.N {
			w.Gradient[j] += w.Y[j] * w.K[i*w.N+j] * moved
		}
	}
}

// Working sets of 32 out of 300 records lead to where one working set of all leads.
func TestDecomposition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	m := machine{Cost: 2, Weight: 1.5}
	m.Kernel.Kernel, m.Kernel.Gamma = "rbf", 0.5
	for range 300 {
		y := float64(2*r.IntN(2) - 1)
		m.Y = append(m.Y, y)
		m.X = append(m.X, []float64{r.NormFloat64() + 0.5*y, r.NormFloat64(), r.NormFloat64()})
	}
	whole, parts := m.begin(), m.begin()
	whole.Solve(1e-9, 1_000_000)
	rounds := parts.decompose(32, 77, 1e-6, 10_000)
	if v := parts.extremes().Violation(); v > 1e-6 {
		t.Fatalf("a violation of %g after %d rounds", v, rounds)
	}
	parts.consistent(t, equal(300, -1), 0, 1e-9)
	p := equal(300, -1)
	if a, b := whole.objective(p), parts.objective(p); math.Abs(a-b) > 1e-9*math.Abs(a) {
		t.Errorf("%v in %d rounds, not %v", b, rounds, a)
	}
	for i, a := range whole.Alpha {
		if math.Abs(a-parts.Alpha[i]) > 1e-3*m.Cost {
			t.Errorf("alpha %d is %v, not %v", i, parts.Alpha[i], a)
		}
	}
	again := m.begin()
	if n := again.decompose(32, 300, 1e-6, 10_000); n != rounds || !slices.Equal(again.Alpha, parts.Alpha) {
		t.Errorf("%d rounds of one block, %d of several", n, rounds)
	}
	t.Logf("%d rounds", rounds)
}
