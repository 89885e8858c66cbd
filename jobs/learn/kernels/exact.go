package kernels

import (
	"math"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// Exact evaluates a kernel in float64, of rows as they were read, with proved errors. A value depends on its two rows
// and the kernel alone. Rows are finite, and both of the same width, below 2^32.
type Exact struct{ kernelops.Kernel }

const (
	// unit64 is half the distance from 1 to the next float64.
	unit64 = 0x1p-53
	// roomy makes room for the rounding of the bounds themselves.
	roomy = 1 + 0x1p-20
	// elementary bounds the relative error of fmath.Exp and fmath.Tanh: assumed, 4 units in the last place. Those met
	// in tests are below 1.
	elementary = 8 * unit64
	// least is more than is lost below the least normal float64.
	least = 0x1p-1000
)

// How many sums a product of rows has, as in package dual, and a square of differences.
const (
	lanes       = 16
	squareLanes = 4
)

// Value returns the kernel of two rows. The time is linear in their width; no memory is taken.
func (k Exact) Value(x, y []float32) float64 {
	if k.Kind == kernelops.RBF {
		return fmath.Exp(-float64(float64(k.Scale) * squareOfDifference(x, y)))
	}
	return k.of(productOf(x, y))
}

// of returns the value of a kernel of products.
func (k Exact) of(product float64) float64 {
	if k.Kind == kernelops.Linear {
		return product
	}
	t := float64(float64(k.Scale)*product) + float64(k.Offset)
	if k.Kind == kernelops.Sigmoid {
		return fmath.Tanh(t)
	}
	value := t
	for range k.Degree - 1 {
		value = float64(value * t)
	}
	return value
}

// Norm bounds |x| from above.
func (k Exact) Norm(x []float32) float64 { return float64(math.Sqrt(productOf(x, x)) * roomy) }

// Magnitude bounds the exact values of rows whose norms are at most these; +Inf beyond float64.
func (k Exact) Magnitude(normX, normY float64) float64 {
	switch k.Kind {
	case kernelops.RBF, kernelops.Sigmoid:
		return 1
	case kernelops.Linear:
		return float64(float64(normX*normY) * roomy)
	}
	return float64(power(k.argument(normX, normY), k.Degree) * roomy)
}

// argument bounds |scale <x, y>| + |offset|.
func (k Exact) argument(normX, normY float64) float64 {
	product := float64(math.Abs(float64(k.Scale)) * float64(normX*normY))
	return float64((product + math.Abs(float64(k.Offset))) * roomy)
}

func power(t float64, degree int) float64 {
	value := 1.0
	for range degree {
		value = float64(value * t)
	}
	return value
}

// Error bounds how far a value of rows of a width may lie from the kernel in exact arithmetic, if their norms are at
// most these; +Inf beyond float64. The bound grows with the norms.
//
// With u = 2^-53 and h the gamma(n) of the n = width/16 + 4 additions of a sum, width/4 + 4 for rbf (Higham, "Accuracy
// and Stability of Numerical Algorithms", section 3.1), a product <x, y> is off by h |x| |y|: products of two float32
// are exact. The argument t = scale <x, y> + offset is off by (h + 3u) (|scale| |x| |y| + |offset|) = e; so is tanh t,
// which also has the error of Tanh, and t^d is off by d (|t| + e)^(d-1) e + 2d u |t + e|^d. For rbf, t = gamma |x-y|^2
// is a sum of squares, off by t r with r = h + 5u. That moves exp(-t) by at most r t exp(-t (1-r)) <= r / (e (1-r)).
func (k Exact) Error(width int, normX, normY float64) float64 {
	if k.Kind == kernelops.RBF {
		return k.errorOf(float64(width/squareLanes+4), normX, normY)
	}
	return k.errorOf(float64(width/lanes+4), normX, normY)
}

// errorOf is Error for sums of n additions.
func (k Exact) errorOf(n, normX, normY float64) float64 {
	h := float64(n*unit64) / (1 - float64(n*unit64))
	if k.Kind == kernelops.RBF {
		return float64(roomy*(float64((h+5*unit64)/math.E)+elementary)) + least
	}
	if k.Kind == kernelops.Linear {
		return float64(roomy*float64(h*float64(normX*normY))) + least
	}
	t := k.argument(normX, normY)
	off := float64(roomy * float64((h+3*unit64)*t))
	if k.Kind == kernelops.Sigmoid {
		return float64(roomy*(off+elementary)) + least
	}
	d, most := float64(k.Degree), power(t+off, k.Degree-1)
	e := float64(roomy*float64(d*most*(off+float64(2*unit64*(t+off))))) + least
	if e != e {
		return math.Inf(1)
	}
	return e
}

// productOf returns <x, y>: the products at e, e+16, e+32 and so on are a sum for each e below 16, and these are added
// up by halves.
func productOf(x, y []float32) float64 {
	var sums [lanes]float64
	y = y[:len(x)]
	for len(x) >= lanes {
		a, b := (*[lanes]float32)(x), (*[lanes]float32)(y)
		for e := range sums {
			sums[e] += float64(float64(a[e]) * float64(b[e]))
		}
		x, y = x[lanes:], y[lanes:]
	}
	for e, v := range x {
		sums[e] += float64(float64(v) * float64(y[e]))
	}
	return halved(&sums)
}

// squareOfDifference returns |x-y|^2, added up as kernelops.Set.GroupDistances does: in four sums.
func squareOfDifference(x, y []float32) float64 {
	var sums [squareLanes]float64
	for j, v := range x {
		d := float64(v) - float64(y[j])
		sums[j%squareLanes] += float64(d * d)
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

func halved(sums *[lanes]float64) float64 {
	for half := lanes / 2; half > 0; half /= 2 {
		for e := range half {
			sums[e] += sums[e+half]
		}
	}
	return sums[0]
}

// ExactRows evaluates a kernel of a row and many others. The values are those of Exact. One goroutine.
type ExactRows struct {
	Exact
	Ops    *kernelops.Set
	center []float64
	groups []int32 // zeros
}

// Values sets dst[i] to the kernel of x and row i.
func (e *ExactRows) Values(dst []float64, x []float32, rows kernelops.Matrix) {
	if e.Kind != kernelops.RBF {
		for i := range dst[:rows.Rows] {
			dst[i] = e.Value(x, rows.Row(i))
		}
		return
	}
	e.squares(dst, x, rows)
	for i, d := range dst {
		dst[i] = -float64(float64(e.Scale) * d)
	}
	e.Ops.Mixed.Exps(dst)
}

// squares sets dst[i] to |x-y|^2 of x and row i, as squareOfDifference has it.
func (e *ExactRows) squares(dst []float64, x []float32, rows kernelops.Matrix) {
	e.center, e.groups = kernelops.Resize(e.center, len(x)), kernelops.Resize(e.groups, rows.Rows)
	for j, v := range x {
		e.center[j] = float64(v)
	}
	e.Ops.GroupDistances(dst, rows, e.center, e.groups)
}
