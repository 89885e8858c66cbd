package semidefinite

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/kernelops"
)

const (
	// unit is half the distance from 1 to the next float64, unit32 that to the next float32.
	unit   = 0x1p-53
	unit32 = 0x1p-24
	// slack makes room for the rounding of the bounds themselves.
	slack = 1 + 0x1p-20
	// lost is more than all that underflow takes of a matrix whose values are at most 1.
	lost = 0x1p-900
)

// MaxOrder bounds the rows of a matrix whose eigenvalues are looked for: the time is cubic.
const MaxOrder = 2000

// Least is what is proved of the least eigenvalue of a matrix.
type Least struct {
	Low, High float64 // it lies between them
	// Rounding bounds how far it may be from that of any matrix whose values, rounded to float32, are these.
	Rounding float64
}

// Proved reports whether the matrix is positive semidefinite.
func (l Least) Proved() bool { return l.Low >= 0 }

// Refuted reports whether neither the matrix nor any that rounds to it is positive semidefinite.
func (l Least) Refuted() bool { return l.High < -l.Rounding }

// Prove returns what is proved of the least eigenvalue of a symmetric matrix of order n, finite values row by row. The
// time is O(n^3), some seconds of order 2,000; the memory is 16 n^2 bytes. Errors are those of the context.
func Prove(ctx context.Context, values []float32, n int, ops *kernelops.Set) (Least, error) {
	k := newMatrix(values, n)
	work := make([]float64, n*n)
	copy(work, k.values)
	t, err := reduce(ctx, work, n, ops)
	if err != nil {
		return Least{}, err
	}
	center := t.least()
	// The solver and Cholesky's method err by small multiples of this.
	step := float64(gamma(n+1)*(k.frobenius()+float64(float64(n)*(k.largestDiagonal()+math.Abs(center))))) + lost
	l := Least{High: k.leastDiagonal(), Rounding: k.rounding()}
	for range attempts {
		shift := step - center
		whole, err := factor(ctx, work, k, shift, ops)
		if err != nil {
			return Least{}, err
		}
		if whole {
			l.Low = k.lowest(shift)
			l.High = min(l.High, k.quotient(witness(work, n, ops)))
			return l.scaled(k.exponent), nil
		}
		step = float64(step * 16)
	}
	return Least{}, fmt.Errorf("semidefinite: no shift near %v makes a matrix of order %d positive definite",
		-center, n)
}

// attempts is how many shifts are tried. The first should do; the last is far beyond all rounding.
const attempts = 8

// scaled takes the scaling of the matrix back.
func (l Least) scaled(exponent int) Least {
	return Least{math.Ldexp(l.Low, exponent), math.Ldexp(l.High, exponent), math.Ldexp(l.Rounding, exponent)}
}

// gamma bounds the relative error of n roundings (Higham, section 3.1).
func gamma(n int) float64 {
	nu := float64(float64(n) * unit)
	return nu / (1 - nu)
}

// matrix is a symmetric matrix times 2^-exponent, so that no value is above 1.
type matrix struct {
	values   []float64
	n        int
	exponent int
}

func newMatrix(values []float32, n int) matrix {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(float64(v)))
	}
	_, exponent := math.Frexp(largest)
	m := matrix{make([]float64, n*n), n, exponent}
	scale := math.Ldexp(1, -exponent)
	for i, v := range values {
		m.values[i] = float64(float64(v) * scale) // exact
	}
	return m
}

func (m matrix) row(i int) []float64 { return m.values[i*m.n : (i+1)*m.n] }

// frobenius is about the root of the sum of squares.
func (m matrix) frobenius() float64 { return math.Sqrt(dot(m.values, m.values)) }

func (m matrix) leastDiagonal() float64 {
	least := math.Inf(1)
	for i := range m.n {
		least = min(least, m.row(i)[i])
	}
	return least
}

func (m matrix) largestDiagonal() (largest float64) {
	for i := range m.n {
		largest = max(largest, math.Abs(m.row(i)[i]))
	}
	return largest
}

// rounding bounds the norm of what rounding to float32 changed: unit32 times the absolute values, whose norm is at most
// that of Frobenius and at most the largest sum of a row; and half of the least float32 each.
func (m matrix) rounding() float64 {
	largest := 0.0
	for i := range m.n {
		sum := 0.0
		for _, v := range m.row(i) {
			sum += math.Abs(v)
		}
		largest = max(largest, sum)
	}
	norm := min(largest, m.frobenius())
	return float64(slack * (float64(unit32*norm) + math.Ldexp(float64(m.n), -150-m.exponent)))
}

// lowest is a bound below all eigenvalues, where Cholesky's method came to its end with a shift of the diagonal.
func (m matrix) lowest(shift float64) float64 {
	trace, largest := 0.0, 0.0
	for i := range m.n {
		d := math.Abs(m.row(i)[i] + shift)
		trace += d
		largest = max(largest, d)
	}
	g := gamma(m.n + 1)
	off := float64(slack*(float64(g/(1-g)*trace)+float64(2*unit*largest)+float64(2*unit*math.Abs(shift)))) + lost
	return -shift - off
}

// quotient is a bound above v'Kv / v'v, and so above the least eigenvalue. The largest value of v is 1.
func (m matrix) quotient(v []float64) float64 {
	sum, size, square := 0.0, 0.0, 0.0
	magnitudes := make([]float64, m.n)
	for j, x := range v {
		magnitudes[j] = math.Abs(x)
	}
	for i, x := range v {
		if x == 0 {
			continue
		}
		own, reach := 0.0, 0.0
		for j, k := range m.row(i) {
			own += float64(k * v[j])
			reach += float64(math.Abs(k) * magnitudes[j])
		}
		sum += float64(x * own)
		size += float64(magnitudes[i] * reach)
		square += float64(x * x)
	}
	g := gamma(2*m.n + 4)
	above := sum + float64(slack*float64(g*size)) + float64(2*unit*math.Abs(sum)) + lost
	if above < 0 {
		return float64(above / float64(square*(1+float64(slack*g))) * (1 - 4*unit))
	}
	return float64(above / float64(square*(1-float64(slack*g))) * (1 + 4*unit))
}

// Shift is by how much the diagonal has to grow, so that no eigenvalue of the sum is below 0; 0 of a matrix that is
// proved.
func (l Least) Shift() float64 {
	if l.Proved() {
		return 0
	}
	return float64(-l.Low * slack)
}
