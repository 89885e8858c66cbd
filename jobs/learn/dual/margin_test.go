package dual

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bounds are those on the largest margin where the machine is.
func (m *machine) bounds() Margin { return Bounds(m.w, m.w, m.standing(), m.drift) }

// Worked by hand: x = (1, 0) of y = +1 and (-1, 0) of y = -1: the largest margin is 1, of w = (1, 0). x = (0, 1)
// of both labels: no machine separates them; alpha of 1 for both makes W = 0.
func TestMarginByHand(t *testing.T) {
	two := problem{loss: Loss{Form: Hinge}, rows: []Row{dense(1, 0), dense(-1, 0)}, y: []float64{1, -1},
		costs: []float64{1, 1}, each: 2}
	m := two.begin(2)
	m.w, m.alpha = []float64{2, 0, 0}, []float64{1, 1}
	if b := m.bounds(); b.Lo > 1 || b.Lo < 1-1e-13 || b.Hi < 1 || b.Hi > 1+1e-13 || !b.Separates() || !b.Valid() {
		t.Errorf("%+v", b)
	}
	m.w = []float64{1, 1, 0} // its margin is 1/sqrt 2
	if b := m.bounds(); math.Abs(b.Lo-math.Sqrt(0.5)) > 1e-14 {
		t.Errorf("%+v", b)
	}
	m.w = []float64{-1, 0, 0}
	if b := m.bounds(); b.Separates() || b.Lo != 0 {
		t.Errorf("%+v", b)
	}
	both := problem{loss: Loss{Form: Hinge}, rows: []Row{dense(0, 1), dense(0, 1)}, y: []float64{1, -1},
		costs: []float64{1, 1}, each: 1}
	m = both.begin(2)
	m.alpha = []float64{1, 1}
	if b := m.bounds(); b.Separates() || b.Hi > 1e-15 {
		t.Errorf("%+v", b)
	}
	if b := Bounds([]float64{1}, []float64{1}, Standing{}, 0); b != Unbounded() || !b.Valid() {
		t.Errorf("of no records: %+v", b)
	}
	if got := (Margin{0.5, 3}).Join(Margin{0.25, 2}); got != (Margin{0.5, 2}) {
		t.Error(got)
	}
	if e := NoExtent().Join(Extent{1, 2, 3}).Join(Extent{-1, 5, 6}); e != (Extent{-1, 2, 6}) {
		t.Error(e)
	}
}

// exactBounds are the squares of the bounds without any rounding: of the least margin over |w|, negative where that is,
// and of |W(alpha)| over the sum of alpha; nil of nothing.
func (m *machine) exactBounds() (lo, hi *big.Rat) {
	last := len(m.w) - 1
	w, sums, total := make([]*big.Rat, len(m.w)), make([]*big.Rat, len(m.w)), new(big.Rat)
	for j := range w {
		w[j], sums[j] = exact(m.w[j]), new(big.Rat)
	}
	var least *big.Rat
	for i, x := range m.rows {
		margin, alpha := new(big.Rat), exact(m.alpha[i])
		x.columns(last, func(j int, v *big.Rat) {
			margin.Add(margin, times(times(w[j], v), exact(m.y[i])))
			sums[j].Add(sums[j], times(times(alpha, v), exact(m.y[i])))
		})
		total.Add(total, alpha)
		if least == nil || margin.Cmp(least) < 0 {
			least = margin
		}
	}
	if square := sumSquares(w); square.Sign() > 0 {
		lo = times(least, new(big.Rat).Abs(least))
		lo.Quo(lo, square)
	}
	if total.Sign() > 0 {
		hi = new(big.Rat).Quo(sumSquares(sums), times(total, total))
	}
	return lo, hi
}

// In 1,000 random problems, after some rounds, the bounds are no tighter than the rational ones, and the best of the
// lower ones is not above the best of the upper.
func TestMarginsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 5))
	for n := range 1000 {
		p, width := random(r)
		if !p.loss.HasMargin() {
			p.loss = Loss{Form: Hinge}
		}
		m, all := p.begin(width), Unbounded()
		for range r.IntN(40) {
			m.round()
			all = all.Join(m.bounds())
		}
		b := m.bounds()
		lo, hi := m.exactBounds()
		if b.Lo > 0 && (lo == nil || times(exact(b.Lo), exact(b.Lo)).Cmp(lo) > 0) {
			t.Fatalf("problem %d: at least %v, but %v", n, b.Lo, lo)
		}
		if square := times(exact(b.Hi), exact(b.Hi)); hi != nil && square.Cmp(hi) < 0 &&
			b.Hi < m.standing().Shortest {
			t.Fatalf("problem %d: at most %v, but the square is %s", n, b.Hi, hi.FloatString(40))
		}
		if all = all.Join(b); !all.Valid() {
			t.Fatalf("problem %d: %+v", n, all)
		}
	}
}

// Of classes that some machine separates, a large cost leads to the largest margin, between bounds that are close.
func TestLargestMargin(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 6))
		p, width := apart(r)
		m, all := p.begin(width), Unbounded()
		best, rounds := m.descendBounded(1e-5, 400, &all, func(Certificate) {})
		if all.Hi/all.Lo-1 > 1e-4 {
			t.Errorf("seed %d, %s: %+v after %d rounds, %+v", seed, p.loss, all, rounds, best)
		}
	}
}

// apart draws a problem that some machine separates, at a margin of its own.
func apart(r *rand.Rand) (p problem, width int) {
	width = 1 + r.IntN(5)
	normal := make([]float64, width)
	for j := range normal {
		normal[j] = r.NormFloat64()
	}
	size, gap := math.Sqrt(SquareOf(normal)), math.Ldexp(1, -r.IntN(8))
	p = problem{loss: Loss{Form: Form(r.IntN(2))}, each: 100}
	cost := []float64{Hinge: 1e9, SquaredHinge: 1e6}[p.loss.Form]
	for range 4 + r.IntN(60) {
		x, score := Row{Bias: 1}, 0.0
		for j := range width {
			x.Values = append(x.Values, float32(r.NormFloat64()))
			score += float64(x.Values[j]) * normal[j] / size
		}
		y := math.Copysign(1, score)
		for j := range width {
			x.Values[j] += float32(y * gap * normal[j] / size)
		}
		p.rows, p.y, p.costs = append(p.rows, x), append(p.y, y), append(p.costs, cost)
	}
	p.y[0], p.y[1] = 1, -1
	p.rows[1] = Row{Bias: 1}
	for _, v := range p.rows[0].Values {
		p.rows[1].Values = append(p.rows[1].Values, -v)
	}
	score := 0.0
	for j, v := range p.rows[0].Values {
		score += float64(v) * normal[j]
	}
	if score < 0 {
		p.y[0], p.y[1] = -1, 1
	}
	return p, width
}
