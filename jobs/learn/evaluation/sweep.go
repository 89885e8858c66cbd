package evaluation

import (
	"math"
	"math/big"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// weightUnit is the exponent of the least positive float32: every weight is a whole number of its power of two.
const weightUnit = -149

// sweep goes through the scores of a ranking from the highest down, in one pass or in several, and gathers the figures
// that come from the order of records. Masses are sums of weights, as integers in units of 2^weightUnit, so that areas
// and shares are quotients of integers. Records of one score count at once.
type sweep struct {
	risk  bool        // positive records are errors, ranked by the confidence of the decision
	total [2]*big.Int // mass of negative and of positive records, known from the start
	above [2]*big.Int // of the scores so far
	open  [2]*big.Int // of the score that is being gathered, which may go on in the next pass
	key   uint64
	begun bool

	twice *big.Int    // twice the mass of the pairs that are ranked right, ties as a half
	area  *sums.Exact // average precision or, of risk, the mean risk over the coverage
	steps int         // of a curve, along each axis; 0 for none
	last  [2]int64    // step of the last point
	next  [2]*big.Int // least mass of the step after it; nil where that was not computed yet
	curve []point

	replicates *resampled // nil where there are no intervals
	spread     *spread    // nil where it is not told

	most  *big.Rat // greatest share of errors, of risk
	found bool
	best  point // lowest confidence at which the errors are no more than that
}

// point is what lies at a score and above.
type point struct {
	score              float64
	positive, negative float64 // shares of the positive and of the negative mass
	precision          float64 // share of positive mass; of risk, that is the share of errors
	coverage           float64 // share of all mass
}

// pointNumbers is how many numbers a point is.
const pointNumbers = 5

func (p *point) list() []*float64 {
	return []*float64{&p.score, &p.positive, &p.negative, &p.precision, &p.coverage}
}

// newSweep begins a sweep; totals are the masses of negative and of positive records.
func newSweep(negative, positive *big.Int, steps int) *sweep {
	s := &sweep{total: [2]*big.Int{negative, positive}, twice: new(big.Int), area: sums.NewExact(1), steps: steps,
		most: new(big.Rat)}
	for i := range 2 {
		s.above[i], s.open[i] = new(big.Int), new(big.Int)
	}
	return s
}

// newRiskSweep begins a sweep of errors among decisions. It finds the lowest confidence with at most that share of
// errors.
func newRiskSweep(right, wrong *big.Int, steps int, most float64) *sweep {
	s := newSweep(right, wrong, steps)
	s.risk = true
	s.most.SetFloat64(most)
	return s
}

// massOf is a weight as an integer in units of 2^weightUnit.
func massOf(bits uint32) *big.Int {
	mantissa, exponent := int64(bits&(1<<23-1)), uint(bits>>23)
	if exponent == 0 {
		return big.NewInt(mantissa)
	}
	m := big.NewInt(mantissa | 1<<23)
	return m.Lsh(m, exponent-1)
}

// massOfSum is an exact sum of weights as an integer in units of 2^weightUnit.
func massOfSum(e *sums.Exact, i int) *big.Int {
	m := e.Int(i)
	if shift := e.Unit() - weightUnit; shift >= 0 {
		m.Lsh(m, uint(shift))
	} else {
		m.Rsh(m, uint(-shift)) // zeros
	}
	return m
}

// take goes on through a ranking, whose scores are below all so far, or equal to the last.
func (s *sweep) take(r *Ranking) {
	r.settle()
	weight, mass := uint32(0), new(big.Int)
	for i := len(r.list) - 1; i >= 0; i-- {
		v := r.list[i]
		if s.begun && v.key != s.key {
			s.close()
		}
		s.key, s.begun = v.key, true
		s.replicates.take(v)
		if v.weight != weight {
			weight, mass = v.weight, massOf(v.weight)
		}
		for side, count := range [2]int64{v.negative, v.positive} {
			if count != 0 {
				c := big.NewInt(count)
				s.open[side].Add(s.open[side], c.Mul(c, mass))
			}
		}
	}
}

// close counts the open score.
func (s *sweep) close() {
	s.replicates.close()
	negative, positive := s.open[0], s.open[1]
	if negative.Sign() == 0 && positive.Sign() == 0 {
		return // weights of 0
	}
	pairs := new(big.Int).Lsh(s.above[1], 1)
	pairs.Add(pairs, positive)
	s.twice.Add(s.twice, pairs.Mul(pairs, negative))
	s.spread.take(scoreOf(s.key), s.open, new(big.Int).Add(s.above[0], s.above[1]),
		new(big.Int).Add(s.total[0], s.total[1]))
	s.above[0].Add(s.above[0], negative)
	s.above[1].Add(s.above[1], positive)
	all := new(big.Int).Add(s.above[0], s.above[1])
	part, whole := positive, s.total[1]
	if s.risk {
		part, whole = new(big.Int).Add(negative, positive), new(big.Int).Add(s.total[0], s.total[1])
	}
	if part.Sign() != 0 {
		s.area.Add(0, quotient(new(big.Int).Mul(part, s.above[1]), new(big.Int).Mul(all, whole)))
	}
	s.mark(all)
	s.open[0].SetInt64(0)
	s.open[1].SetInt64(0)
}

// mark adds a point to the curve where either share has gone a step further, and takes it for the best where its risk
// is low enough.
func (s *sweep) mark(all *big.Int) {
	moved := s.move()
	good := s.risk && new(big.Int).Mul(s.above[1], s.most.Denom()).Cmp(new(big.Int).Mul(all, s.most.Num())) <= 0
	if !moved && !good {
		return
	}
	p := point{scoreOf(s.key), quotient(s.above[1], s.total[1]), quotient(s.above[0], s.total[0]),
		quotient(s.above[1], all), quotient(all, new(big.Int).Add(s.total[0], s.total[1]))}
	if moved {
		s.curve = append(s.curve, p)
	}
	if good {
		s.best, s.found = p, true
	}
}

// move goes to the steps of both shares, and reports whether either is another one.
func (s *sweep) move() (moved bool) {
	for side := range 2 {
		total := s.total[side]
		if s.steps == 0 || total.Sign() == 0 || s.next[side] != nil && s.above[side].Cmp(s.next[side]) < 0 {
			continue
		}
		steps := big.NewInt(int64(s.steps))
		at := new(big.Int).Mul(s.above[side], steps)
		if step := at.Quo(at, total).Int64(); step != s.last[side] {
			moved, s.last[side] = true, step
		}
		next := new(big.Int).Mul(big.NewInt(s.last[side]+1), total)
		next.Add(next, steps)
		s.next[side] = next.Sub(next, big.NewInt(1)).Quo(next, steps)
	}
	return moved
}

// end counts the last score.
func (s *sweep) end() {
	if s.begun {
		s.close()
	}
	s.begun = false
}

// auc is the area under the ROC curve; nil without negative or positive mass.
func (s *sweep) auc() *float64 {
	if s.total[0].Sign() == 0 || s.total[1].Sign() == 0 {
		return nil
	}
	pairs := new(big.Int).Mul(s.total[0], s.total[1])
	area := quotient(s.twice, pairs.Lsh(pairs, 1))
	return &area
}

// mean is the average precision, nil without positive mass or, of risk, its mean over the coverage, nil without
// mass.
func (s *sweep) mean() *float64 {
	if s.total[1].Sign() == 0 && (!s.risk || s.total[0].Sign() == 0) {
		return nil
	}
	area := s.area.Float(0)
	return &area
}

// quotient is a/b, 0 where b is 0, within an ulp: in software, so it is the same everywhere.
func quotient(a, b *big.Int) float64 {
	if b.Sign() == 0 {
		return 0
	}
	const bits = 128
	x, y := new(big.Float).SetPrec(bits).SetInt(a), new(big.Float).SetPrec(bits).SetInt(b)
	q, _ := x.Quo(x, y).Float64()
	return q
}

// fields lists a sweep under names that begin with that one.
func (s *sweep) fields(f *jobs.Fields, name string) {
	jobs.Flag[int32](f, name+".risk", &s.risk)
	jobs.Flag[int32](f, name+".begun", &s.begun)
	jobs.Flag[int32](f, name+".found", &s.found)
	f.Int(name+".steps", &s.steps, 0, math.MaxInt32)
	key := int64(s.key)
	jobs.Tuple(f, name+".last", &key, &s.last[0], &s.last[1])
	if f.Reading() {
		s.key = uint64(key)
	}
	for i, sides := range [][]**big.Int{{&s.total[0], &s.total[1]}, {&s.above[0], &s.above[1]},
		{&s.open[0], &s.open[1]}, {&s.twice}} {
		for j, side := range sides {
			wholeField(f, name+"."+[]string{"total", "above", "open", "twice"}[i]+[]string{"", ".positive"}[j], side)
		}
	}
	jobs.Make(f, &s.area).Fields(f, name+".area")
	f.Require(s.area.Len() == 1, "%d areas of one ranking", s.area.Len())
	s.pointFields(f, name)
	resampledField(f, name+".replicates", &s.replicates)
	spreadField(f, name+".spread", &s.spread)
	most := 0.0
	if s.most != nil {
		most, _ = s.most.Float64()
	}
	jobs.Scalar(f, name+".most", &most)
	f.Require(most >= 0 && most < 1, "a share of errors of %v", most)
	if f.Reading() {
		s.most = new(big.Rat)
		s.most.SetFloat64(most)
	}
}

// pointFields lists the curve, a row a point, with the best one at its end.
func (s *sweep) pointFields(f *jobs.Fields, name string) {
	var numbers []float64
	for _, p := range append(s.curve[:len(s.curve):len(s.curve)], s.best) {
		for _, v := range p.list() {
			numbers = append(numbers, *v)
		}
	}
	jobs.List(f, name+".points", &numbers, -1, pointNumbers)
	f.Require(len(numbers) > 0, "a sweep without points")
	if !f.Reading() {
		return
	}
	s.curve = make([]point, len(numbers)/pointNumbers)
	for i := range s.curve {
		for j, v := range s.curve[i].list() {
			*v = numbers[i*pointNumbers+j]
		}
	}
	s.best = s.curve[len(s.curve)-1]
	s.curve = s.curve[:len(s.curve)-1]
}

// wholeField lists an integer of at least 0 by its bytes.
func wholeField(f *jobs.Fields, name string, v **big.Int) {
	var bytes []byte
	if !f.Reading() {
		bytes = (*v).Bytes()
	}
	jobs.List(f, name, &bytes)
	if f.Reading() {
		*v = new(big.Int).SetBytes(bytes)
	}
}

// massFloat is a mass as a sum of weights, within an ulp.
func massFloat(m *big.Int) float64 {
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(m), weightUnit).Float64()
	return bounded(f)
}
