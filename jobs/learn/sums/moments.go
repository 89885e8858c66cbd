package sums

import (
	"math/big"

	"github.com/gram-compute/gram/jobs"
)

// Moments are, for each class, the weight of its rows, their weighted sums, and those of their squares.
type Moments struct {
	Rows
	Squares *Exact // [classes x width]
}

// NewMoments returns moments without any row.
func NewMoments(classes, width int) *Moments {
	return &Moments{Rows{width, NewExact(classes * width), NewExact(classes)}, NewExact(classes * width)}
}

// Add adds a finite value of weight 1 to moments of one class and one column.
func (m *Moments) Add(v float64) {
	m.Weight.Add(0, 1)
	m.Sums.Add(0, v)
	m.Squares.AddSquare(0, v)
}

// Fields lists the sums.
func (m *Moments) Fields(f *jobs.Fields) { m.Named(f, "") }

// Named is Fields with a prefix before each name.
func (m *Moments) Named(f *jobs.Fields, prefix string) {
	m.Rows.Fields(f, prefix+"sums", prefix+"weight")
	jobs.Make(f, &m.Squares).Fields(f, prefix+"squares")
	f.Require(m.Squares.Len() == m.Sums.Len(), "squares of %d numbers and sums of %d", m.Squares.Len(), m.Sums.Len())
}

// Plus returns these moments plus those to the right; it changes neither.
func (m *Moments) Plus(right *Moments) (*Moments, error) {
	rows, err := m.Rows.Plus(&right.Rows)
	if err != nil {
		return nil, err
	}
	squares, err := m.Squares.Plus(right.Squares)
	return &Moments{*rows, squares}, err
}

// Placed returns the moments of more classes: class to[y] has the rows of class y, and no other has any. The numbers in
// to differ and are below classes.
func (m *Moments) Placed(to []int32, classes int) *Moments {
	return &Moments{Rows{m.Width, m.Sums.placed(to, classes, m.Width), m.Weight.placed(to, classes, 1)},
		m.Squares.placed(to, classes, m.Width)}
}

// Flags reports whether the squares of column i of all classes' columns add up to what its values do, as those of 0 and
// 1 do.
func (m *Moments) Flags(i int) bool {
	first, second := m.Sums.Int(i), m.Squares.Int(i)
	if by := m.Sums.Unit() - m.Squares.Unit(); by > 0 {
		first.Lsh(first, uint(by))
	} else {
		second.Lsh(second, uint(-by))
	}
	return first.Cmp(second) == 0
}

// Mean sets mean to that of each column of a class, which weighs more than 0, rounded once.
func (m *Moments) Mean(class int, mean []float64) {
	weight := m.Weight.Int(class)
	for j := range mean {
		mean[j] = quotient(m.Sums.Int(class*m.Width+j), weight, m.Sums.Unit()-m.Weight.Unit())
	}
}

// Variance sets variance to that of each column of a class, which weighs more than 0: the mean of the squared distances
// from the mean, computed from the exact sums and rounded once.
func (m *Moments) Variance(class int, variance []float64) {
	weight := m.Weight.Int(class)
	square := new(big.Int).Mul(weight, weight)
	for j := range variance {
		variance[j] = m.variance(class*m.Width+j, weight, m.Weight.Unit(), square)
	}
}

// Part returns the mean and the variance of column i of all classes' columns over some of the rows, which weigh more
// than 0 together, weight times 2^unit. The other rows had a 0 there, which adds nothing. Both are rounded once.
func (m *Moments) Part(i int, weight *big.Int, unit int) (mean, variance float64) {
	mean = quotient(m.Sums.Int(i), weight, m.Sums.Unit()-unit)
	return mean, m.variance(i, weight, unit, new(big.Int).Mul(weight, weight))
}

// variance is (W Q - S^2) / W^2, with the weight W, the sum S and the sum of squares Q.
func (m *Moments) variance(i int, weight *big.Int, weightUnit int, square *big.Int) float64 {
	first, second := new(big.Int).Mul(weight, m.Squares.Int(i)), m.Sums.Int(i)
	second.Mul(second, second)
	unit, unitSquare := weightUnit+m.Squares.Unit(), 2*m.Sums.Unit()
	if unit > unitSquare {
		first.Lsh(first, uint(unit-unitSquare))
		unit = unitSquare
	} else {
		second.Lsh(second, uint(unitSquare-unit))
	}
	return quotient(first.Sub(first, second), square, unit-2*weightUnit)
}

// quotient is a/b 2^exponent, rounded once.
func quotient(a, b *big.Int, exponent int) float64 {
	if a.Sign() == 0 {
		return 0
	}
	q := new(big.Float).SetPrec(53).Quo(new(big.Float).SetInt(a), new(big.Float).SetInt(b))
	v, _ := q.SetMantExp(q, exponent).Float64()
	return v
}
