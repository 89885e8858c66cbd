package dual

import (
	"math"
	"math/big"
	"slices"
)

// problem is a training set in memory, cut into blocks of as many records.
type problem struct {
	loss  Loss
	rows  []Row
	y     []float64
	goals []float64 // targets; nil for 1
	costs []float64
	each  int
}

// machine is how far the training of a problem is.
type machine struct {
	problem
	w, alpha []float64
	drift    float64
}

func (p problem) begin(width int) *machine {
	return &machine{p, make([]float64, width+1), make([]float64, len(p.rows)), 0}
}

// target is what y <w, x> is to be.
func (p problem) target(i int) float64 {
	if p.goals == nil {
		return p.loss.Target()
	}
	return p.goals[i]
}

// short is by how much it is not at some weights.
func (p problem) short(i int, w []float64) float64 {
	return p.target(i) - float64(p.y[i]*p.rows[i].Dot(w))
}

// standing is where the records stand, block by block.
func (m *machine) standing() (all Standing) {
	all.Extent = NoExtent()
	for from := 0; from < len(m.rows); from += m.each {
		var s Standing
		for i := from; i < min(from+m.each, len(m.rows)); i++ {
			s.Add(m.loss, m.target(i), m.alpha[i], m.short(i, m.w), m.rows[i].Square(), m.costs[i], m.rows[i].Terms())
		}
		all.Loss, all.Slope, all.Bend = all.Loss+s.Loss, all.Slope+s.Slope, all.Bend+s.Bend
		all.Linear, all.Quadratic, all.Reach = all.Linear+s.Linear, all.Quadratic+s.Quadratic, all.Reach+s.Reach
		all.Size, all.Steep = all.Size+s.Size, all.Steep+s.Steep
		all.Records, all.Terms = max(all.Records, s.Records), max(all.Terms, s.Terms)
		all.Violation, all.Extent = max(all.Violation, s.Violation), all.Join(s.Extent)
	}
	return all
}

// round lets every block ascend once, and steps along what they propose.
func (m *machine) round() (step float64) {
	all, course := m.standing(), NewCourse()
	moves, changes := make([]float64, len(m.w)), make([]float64, len(m.alpha))
	for from := 0; from < len(m.rows); from += m.each {
		local, own := slices.Clone(m.w), make([]float64, len(m.w))
		for i := from; i < min(from+m.each, len(m.rows)); i++ {
			square := m.rows[i].Square()
			changes[i] = m.loss.Ascend(m.alpha[i], m.short(i, local), square, m.costs[i]) - m.alpha[i]
			m.rows[i].AddTo(local, float64(changes[i]*m.y[i]))
			m.rows[i].AddTo(own, float64(changes[i]*m.y[i]))
			course.Add(m.loss, m.target(i), m.alpha[i], changes[i], square, m.costs[i])
		}
		for j, v := range own {
			moves[j] += v
		}
	}
	step = course.Step(m.loss, m.w, moves)
	for i := range m.alpha {
		m.alpha[i] = m.loss.Moved(m.alpha[i], changes[i], step, m.costs[i])
	}
	for j := range m.w {
		m.w[j] += float64(step * moves[j])
	}
	m.drift = course.Drift(m.drift, all, m.w, step)
	return step
}

func (m *machine) certify() Certificate { return Certify(m.loss, m.w, m.w, m.standing(), m.drift) }

func exact(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func sumSquares(w []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, v := range w {
		sum.Add(sum, times(v, v))
	}
	return sum
}

// column calls visit with every number of a row, the constant one last.
func (x Row) columns(last int, visit func(j int, v *big.Rat)) {
	for e, v := range x.Values {
		j := e
		if x.Index != nil {
			j = int(x.Index[e])
		}
		visit(j, exact(float64(v)))
	}
	visit(last, exact(x.Bias))
}

// objectives are P(w) and D(alpha) without any rounding.
func (m *machine) objectives() (primal, dual *big.Rat) {
	half, last := big.NewRat(1, 2), len(m.w)-1
	w, sums := make([]*big.Rat, len(m.w)), make([]*big.Rat, len(m.w))
	for j := range w {
		w[j], sums[j] = exact(m.w[j]), new(big.Rat)
	}
	primal, dual = times(half, sumSquares(w)), new(big.Rat)
	for i, x := range m.rows {
		margin, alpha, cost := new(big.Rat), exact(m.alpha[i]), exact(m.costs[i])
		x.columns(last, func(j int, v *big.Rat) {
			margin.Add(margin, times(times(w[j], v), exact(m.y[i])))
			sums[j].Add(sums[j], times(times(alpha, v), exact(m.y[i])))
		})
		short, epsilon := margin.Sub(exact(m.target(i)), margin), exact(m.loss.Epsilon)
		dual.Add(dual, times(alpha, exact(m.target(i))))
		dual.Sub(dual, times(epsilon, new(big.Rat).Abs(alpha)))
		if m.loss.Smooth() { // q alpha^2/2 of q = 1/(2c)
			dual.Sub(dual, new(big.Rat).Quo(times(alpha, alpha), times(big.NewRat(4, 1), cost)))
		}
		if m.loss.Tube() {
			short.Abs(short).Sub(short, epsilon)
		}
		if short.Sign() <= 0 && m.loss.Form != Squared {
			continue
		}
		if m.loss.Smooth() {
			short = times(short, short)
		}
		primal.Add(primal, times(cost, short))
	}
	return primal, dual.Sub(dual, times(half, sumSquares(sums)))
}

// within reports whether a float64 is no further from an exact number than a bound.
func within(v float64, want *big.Rat, bound float64) bool {
	if math.IsInf(bound, 0) || bound != bound {
		return false
	}
	off := new(big.Rat).Sub(exact(v), want)
	return off.Abs(off).Cmp(exact(bound)) <= 0
}
