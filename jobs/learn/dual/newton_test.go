package dual

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops"
)

// Worked by hand: ((3, 1), (1, 4)) (2/11, 5/11) = (1, 2).
func TestNewtonByHand(t *testing.T) {
	step := Newton([]float64{2, 1, 3}, []float64{-1, -2})
	if math.Abs(step[0]-2.0/11) > 1e-15 || math.Abs(step[1]-5.0/11) > 1e-15 {
		t.Error(step)
	}
	triangle := make([]float64, TriangleLen(2))
	AddOuter(triangle, []float64{2, 3}, 10)
	if !slices.Equal(triangle, []float64{40, 60, 90}) {
		t.Error(triangle)
	}
}

// The step solves its equations, whatever the scales of the columns.
func TestNewtonSolves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for n := 1; n < 40; n += 3 {
		triangle, gradient, x := make([]float64, TriangleLen(n)), make([]float64, n), make([]float64, n)
		for range 2 * n {
			for j := range x {
				x[j] = math.Ldexp(r.NormFloat64(), 10*(j%3)-10)
			}
			AddOuter(triangle, x, r.Float64())
		}
		for j := range gradient {
			gradient[j] = r.NormFloat64()
		}
		step := Newton(slices.Clone(triangle), gradient)
		at := func(i, j int) float64 {
			v := triangle[TriangleLen(max(i, j))+min(i, j)]
			if i == j {
				v++
			}
			return v
		}
		for i := range step {
			sum, size := gradient[i], math.Abs(gradient[i])
			for j, s := range step {
				sum += at(i, j) * s
				size += math.Abs(at(i, j) * s)
			}
			if math.Abs(sum) > 1e-12*size {
				t.Fatalf("%d rows: row %d is off by %v of %v", n, i, sum, size)
			}
		}
	}
}

// Outers has the bits of AddOuter, whatever the rows, and however many.
func TestOutersAddOuter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for n := 1; n < 80; n += 1 + n/7 {
		for _, ops := range kernelops.All() {
			o, want := NewOuters(n), make([]float64, TriangleLen(n))
			for i := range 70 {
				x, bend := Row{Bias: float64(i % 3), Ops: ops}, math.Ldexp(r.Float64(), r.IntN(80)-40)
				sparse, full := i%5 == 0, r.IntN(3)
				for j := range n - 1 {
					v := float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
					if r.IntN(9) == 0 {
						v = 0
					}
					switch {
					case !sparse:
						x.Values = append(x.Values, v)
					case r.IntN(1+20*full) == 0:
						x.Values, x.Index = append(x.Values, v), append(x.Index, int32(j))
					}
				}
				if sparse && x.Index == nil {
					x.Index = []int32{}
				}
				o.Add(x, bend)
				AddOuter(want, x.Spread(make([]float64, n)), bend)
			}
			if got := o.Triangle(ops); !slices.EqualFunc(got, want, sameBits) {
				t.Fatalf("%d columns, %s: %v, want %v", n, ops.Name, got, want)
			}
		}
	}
}

func sameBits(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

// Near finds the greatest value within the bounds, and bend is the slope of the coefficient.
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 2000 {
		l, cost := lossOf(r), math.Ldexp(1, r.IntN(8)-4)
		center, short, pull := alphaOf(r, l, cost), 3*r.NormFloat64(), math.Ldexp(1, r.IntN(10)-6)
		if l.Smooth() && r.IntN(2) == 0 {
			pull = 0
		}
		of := func(alpha float64) float64 {
			off := alpha - center
			return alpha*short - l.Epsilon*math.Abs(alpha) - l.curvature(cost)*alpha*alpha/2 - pull/cost*off*off/2
		}
		alpha, value, bend := l.Near(center, short, cost, pull)
		if alpha < l.lower(cost) || alpha > l.Upper(cost) || math.Abs(value-of(alpha)) > 1e-12*(1+math.Abs(value)) {
			t.Fatalf("%v: %v, not %v", alpha, value, of(alpha))
		}
		for _, to := range []float64{0, cost, -cost, center, alpha * 0.99, alpha*1.01 + 1e-6} {
			if to >= l.lower(cost) && to <= l.Upper(cost) && of(to) > value+1e-12*(1+math.Abs(value)) {
				t.Fatalf("%s: %v is better than %v", l, to, alpha)
			}
		}
		const h = 1e-6
		before, _, one := l.Near(center, short-h, cost, pull)
		after, _, other := l.Near(center, short+h, cost, pull)
		if slope := (after - before) / (2 * h); one == other && math.Abs(slope-bend) > 1e-6*(1+bend) {
			t.Fatalf("%s: bend %v, slope %v", l, bend, slope)
		}
	}
}

// center measures all records at the weights, as a round does, and returns where they stand.
func (m *machine) center(pull float64, centers []float64) (all Standing, of, triangle []float64, value float64) {
	width := len(m.w)
	of, triangle, x := make([]float64, width), make([]float64, TriangleLen(width)), make([]float64, width)
	for i, row := range m.rows {
		var v, bend float64
		short := m.short(i, m.w)
		m.alpha[i], v, bend = m.loss.Near(centers[i], short, m.costs[i], pull)
		value += v
		all.Add(m.loss, m.target(i), m.alpha[i], short, row.Square(), m.costs[i], row.Terms())
		row.AddTo(of, float64(m.alpha[i]*m.y[i]))
		AddOuter(triangle, row.Spread(x), bend)
	}
	return all, of, triangle, value
}

// descend trains until a gap is proved, and counts the rounds.
func (m *machine) descend(tol float64, most int, each func(Certificate)) (best Certificate, rounds int) {
	margin := Unbounded()
	return m.descendBounded(tol, most, &margin, each)
}

// descendBounded also bounds the largest margin.
func (m *machine) descendBounded(
	tol float64, most int, margin *Margin, each func(Certificate),
) (best Certificate, rounds int) {
	d, origin, centers := NewDescent(m.loss.Form), make([]float64, len(m.w)), make([]float64, len(m.alpha))
	scale := 1.0
	for rounds = 1; ; rounds++ {
		all, of, triangle, value := m.center(float64(d.Pull*scale), centers)
		now := Certify(m.loss, m.w, of, all, all.Drift(of))
		*margin = margin.Join(Bounds(m.w, of, all, all.Drift(of)))
		each(now)
		if best, _ = best.Better(now); rounds == 1 {
			best = now
		}
		if best.Relative() <= tol || rounds == most {
			return best, rounds
		}
		if rounds == 1 && m.loss.Tube() {
			scale = all.Scale()
			continue
		}
		moves, ended := d.Next(origin, m.w, of, triangle, value, best.GapUpper)
		if moves {
			copy(centers, m.alpha)
		}
		if ended {
			return best, rounds
		}
	}
}

// A gap of 1e-9 is proved in few rounds on data of one scale.
func TestDescent(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, width := random(r)
		for i := range p.rows {
			for j := range p.rows[i].Values {
				p.rows[i].Values[j] = float32(r.NormFloat64())
			}
			p.rows[i].Bias = min(1, p.rows[i].Bias)
		}
		if best, rounds := p.begin(width).descend(1e-9, 400, func(Certificate) {}); best.Relative() > 1e-9 {
			t.Errorf("seed %d, %s, costs %g: after %d rounds a gap of %g is proved", seed, p.loss, p.costs[0], rounds,
				best.Relative())
		}
	}
}

// In 2,000 random problems, half of them of numbers, after some rounds, the objectives are within their errors and the
// gap within its bound, as rational numbers have them.
func TestCertificatesOfDescentsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 3))
	for n := range 2000 {
		p, width := random(r)
		if n%2 == 1 {
			numbered(r, &p, true)
		}
		m, left := p.begin(width), 1+r.IntN(12)
		m.descend(0, left, func(c Certificate) {
			if left--; left > 0 {
				return
			}
			primal, dual := m.objectives()
			gap := new(big.Rat).Sub(primal, dual)
			if !within(c.Primal, primal, c.PrimalError) || !within(c.Dual, dual, c.DualError) ||
				gap.Cmp(exact(c.GapUpper)) > 0 || gap.Sign() < 0 {
				t.Fatalf("problem %d: %+v of %s and %s\n%+v", n, c, primal.FloatString(20), dual.FloatString(20), p)
			}
		})
	}
}
