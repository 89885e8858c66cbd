package semidefinite

import (
	"context"
	"fmt"
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// Clipped is a symmetric matrix K whose negative eigenvalues were set to 0, V max(L, 0) V' with K = V L V' (Chen,
// Garcia, Gupta, Rahimi and Cazzanti, "Similarity-based classification", JMLR 10, 2009, section 2.1), up to rounding.
type Clipped struct {
	Values   []float32 // [n x n], exactly symmetric
	Negative int       // eigenvalues below 0, as computed
	Projection
}

// Projection is the one onto the eigenvectors of the eigenvalues above 0.
type Projection struct {
	Onto    []float64 // [rank x n], orthonormal rows: those eigenvectors, or
	Outside bool      // all others, which are taken away
}

// Apply returns the projection of x. The order of the sums does not depend on the kernel set.
func (p Projection) Apply(x []float64, ops *kernelops.Set) []float64 {
	n := len(x)
	y, sign := make([]float64, n), 1.0
	if p.Outside {
		copy(y, x)
		sign = -1
	}
	for at := 0; at < len(p.Onto); at += n {
		v := p.Onto[at : at+n]
		ops.AddScaled(y, v, float64(sign*dot(v, x)))
	}
	return y
}

// Clip clips a symmetric matrix of order n: O(n^3), 24 n^2 bytes.
func Clip(ctx context.Context, values []float32, n int, ops *kernelops.Set) (Clipped, error) {
	k := newMatrix(values, n)
	work := make([]float64, n*n)
	copy(work, k.values)
	t, err := reduce(ctx, work, n, ops)
	if err != nil {
		return Clipped{}, err
	}
	vectors := make([]float64, n*n)
	if err := t.basis(ctx, vectors, work, n, ops); err != nil {
		return Clipped{}, err
	}
	if err := t.diagonalize(ctx, vectors); err != nil {
		return Clipped{}, err
	}
	c := Clipped{}
	above := 0
	for _, d := range t.diagonal {
		if d > 0 {
			above++
		} else if d < 0 {
			c.Negative++
		}
	}
	// The fewer vectors are used.
	c.Outside = above > n-above
	var eigenvalues []float64
	for i, d := range t.diagonal {
		if (d > 0) != c.Outside {
			c.Onto, eigenvalues = append(c.Onto, vectors[i*n:(i+1)*n]...), append(eigenvalues, math.Abs(d))
		}
	}
	c.Values = make([]float32, n*n)
	return c, c.sum(ctx, k, eigenvalues, ops)
}

// sum sets the values: those of the matrix and what the eigenvectors outside have below 0, or the sum of those above.
func (c *Clipped) sum(ctx context.Context, k matrix, eigenvalues []float64, ops *kernelops.Set) error {
	n := k.n
	row := make([]float64, n)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		own := row[i:]
		if clear(own); c.Outside {
			copy(own, k.row(i)[i:])
		}
		for r, value := range eigenvalues {
			v := c.Onto[r*n : (r+1)*n]
			ops.AddScaled(own, v[i:], float64(value*v[i]))
		}
		for j, x := range own {
			value := float32(math.Ldexp(x, k.exponent))
			c.Values[i*n+i+j], c.Values[(i+j)*n+i] = value, value
		}
	}
	return nil
}

// basis sets q to the rows in whose coordinates the matrix is the tridiagonal one: the transpose of the product of all
// reflections, which reduce left in a. O(n^3).
func (t tridiagonal) basis(ctx context.Context, q, a []float64, n int, ops *kernelops.Set) error {
	for i := range n {
		q[i*n+i] = 1
	}
	sum := make([]float64, n)
	for k := n - 2; k >= 0; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, s := a[k*n+k+1:(k+1)*n], sum[k+1:]
		clear(s)
		for i, x := range v {
			ops.AddScaled(s, q[(k+1+i)*n+k+1:(k+2+i)*n], x)
		}
		for i, x := range v {
			ops.AddScaled(q[(k+1+i)*n+k+1:(k+2+i)*n], s, -float64(t.scales[k]*x))
		}
	}
	for i := range n {
		for j := range i {
			q[i*n+j], q[j*n+i] = q[j*n+i], q[i*n+j]
		}
	}
	return nil
}

// maxSweeps is how many sweeps an eigenvalue may take. Two are usual.
const maxSweeps = 60

// diagonalize makes the matrix diagonal by implicit QL steps, and turns the rows of a basis into its eigenvectors
// (Golub and Van Loan, section 8.3.3; Bowdler, Martin, Reinsch and Wilkinson, Numerische Mathematik 11, 1968). O(n^3).
func (t tridiagonal) diagonalize(ctx context.Context, basis []float64) error {
	n := len(t.diagonal)
	e := append(t.beside, 0)
	norm := 0.0
	for i, d := range t.diagonal {
		norm = max(norm, math.Abs(d)+math.Abs(e[i]))
	}
	for l := range n {
		for sweep := 0; ; sweep++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			m := l
			for m < n-1 && !(math.Abs(e[m]) <= float64(unit*norm)) {
				m++
			}
			if m == l {
				break
			}
			if sweep == maxSweeps {
				return fmt.Errorf("semidefinite: eigenvalue %d of %d did not converge", l, n)
			}
			t.sweep(e, l, m, basis)
		}
	}
	return nil
}

// sweep is one QL step over the rows from l to m.
func (t tridiagonal) sweep(e []float64, l, m int, basis []float64) {
	d, n := t.diagonal, len(t.diagonal)
	g := (d[l+1] - d[l]) / float64(2*e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(length(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r := length(f, g)
		if e[i+1] = r; r == 0 {
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*float64(c*b))
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		rotate(basis[i*n:(i+1)*n], basis[(i+1)*n:(i+2)*n], c, s)
	}
	d[l] -= p
	e[l], e[m] = g, 0
}

// length is that of a vector of two values.
func length(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	q := y / x
	return float64(x * math.Sqrt(1+float64(q*q)))
}

// rotate turns two rows.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for k, a := range x {
		b := y[k]
		y[k] = float64(s*a) + float64(c*b)
		x[k] = float64(c*a) - float64(s*b)
	}
}
