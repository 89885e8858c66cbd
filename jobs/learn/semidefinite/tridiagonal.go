package semidefinite

import (
	"context"
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// tridiagonal is a symmetric matrix that is 0 but on its diagonal and beside it.
type tridiagonal struct {
	diagonal []float64
	beside   []float64 // one fewer
	scales   []float64 // of the reflections that led to it; see reduce
}

// reduce makes a symmetric matrix tridiagonal, by reflections I - scale v v' from both sides. It leaves the v of
// reflection k in row k of a, right of the diagonal, and destroys the rest. O(n^3), with one pass over the memory for
// each row: a row is changed by the last reflection where it is multiplied with the next.
func reduce(ctx context.Context, a []float64, n int, ops *kernelops.Set) (tridiagonal, error) {
	t := tridiagonal{make([]float64, n), make([]float64, max(0, n-1)), make([]float64, n)}
	var v, w []float64 // of the last reflection: what it takes away is v w' + w v'
	for k := range n {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		row := a[k*n+k : (k+1)*n]
		if k > 0 {
			ops.AddScaled(row, w, -v[0])
			ops.AddScaled(row, v, -w[0])
		}
		t.diagonal[k] = row[0]
		if k == n-1 {
			break
		}
		x := row[1:]
		t.beside[k], t.scales[k] = reflect(x)
		p := make([]float64, len(x))
		for i := range x {
			r := a[(k+1+i)*n+k+1 : (k+2+i)*n]
			if k > 0 {
				ops.AddScaled(r, w[1:], -v[i+1])
				ops.AddScaled(r, v[1:], -w[i+1])
			}
			ops.AddScaled(p, r, x[i])
		}
		half := float64(t.scales[k] * dot(p, x) / 2)
		for i, y := range p {
			p[i] = float64(t.scales[k] * (y - float64(half*x[i])))
		}
		v, w = x, p
	}
	return t, nil
}

// reflect makes of x the vector v of the reflection that maps x to a multiple of the first unit vector, and returns the
// multiple and the scale 2 / v'v, which is 0 where nothing has to change.
func reflect(x []float64) (first, scale float64) {
	if rest := dot(x[1:], x[1:]); rest == 0 {
		return x[0], 0
	}
	norm := math.Sqrt(dot(x, x))
	own := math.Abs(x[0])
	first = -math.Copysign(norm, x[0])
	x[0] -= first
	return first, 1 / float64(norm*(norm+own))
}

// dot is the product of two vectors, in four sums.
func dot(x, y []float64) float64 {
	var s [4]float64
	y = y[:len(x)]
	for len(x) >= 4 {
		a, b := (*[4]float64)(x), (*[4]float64)(y)
		s[0] += float64(a[0] * b[0])
		s[1] += float64(a[1] * b[1])
		s[2] += float64(a[2] * b[2])
		s[3] += float64(a[3] * b[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s[i] += float64(v * y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// least is about the least eigenvalue, by bisection.
func (t tridiagonal) least() float64 {
	low, high := math.Inf(1), math.Inf(1)
	norm := 0.0
	for i, d := range t.diagonal {
		around := 0.0
		if i > 0 {
			around += math.Abs(t.beside[i-1])
		}
		if i < len(t.beside) {
			around += math.Abs(t.beside[i])
		}
		low, high = min(low, d-around), min(high, d)
		norm = max(norm, math.Abs(d)+around)
	}
	for high-low > float64(unit*norm) {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if t.anyBelow(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low + (high-low)/2
}

// anyBelow reports whether an eigenvalue is below x: whether a pivot of T - x I is (Sylvester's law of inertia).
func (t tridiagonal) anyBelow(x float64) bool {
	pivot := 1.0
	for i, d := range t.diagonal {
		own := d - x
		if i > 0 {
			own -= float64(t.beside[i-1] / pivot * t.beside[i-1])
		}
		if own < 0 {
			return true
		}
		pivot = max(own, 0x1p-1000)
	}
	return false
}
