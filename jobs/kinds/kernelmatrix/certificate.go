package kernelmatrix

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"gonum.org/v1/gonum/mat"
)

// The verdicts of a certificate.
const (
	// Holds: the sample's matrix is positive semidefinite, also in exact arithmetic.
	Holds = "holds"
	// Fails: it has a negative eigenvalue, also in exact arithmetic; so has the whole matrix.
	Fails = "fails"
	// Untold: the least eigenvalue is no larger than what rounding may have moved it by.
	Untold = "cannot be told"
)

// Certificate is what the eigenvalues of the sample say of a symmetric matrix. Its digits may
// differ from build to build in their last places.
type Certificate struct {
	Records  int     `json:"records"` // drawn
	Least    float64 `json:"least_eigenvalue"`
	Greatest float64 `json:"greatest_eigenvalue"`
	// Tolerance bounds how far float32 and the computation may have moved an eigenvalue.
	Tolerance float64 `json:"tolerance"`
	// Verdict is Holds where the least eigenvalue is the tolerance or more, Fails where it is below minus the
	// tolerance, and else Untold. TellableBy is what would make it tellable.
	Verdict    string `json:"verdict"`
	TellableBy string `json:"tellable_by,omitempty"`
}

// Certify computes the certificate of a model; nil where nothing was drawn.
func Certify(a jobs.Arrays) (*Certificate, error) {
	m, err := jobs.Load[model](a)
	if err != nil {
		return nil, err
	}
	c, _, err := m.certificate()
	return c, err
}

// certify is Certify for a report.
func certify(a jobs.Arrays) (any, error) {
	if c, err := Certify(a); c != nil || err != nil {
		return c, err
	}
	return nil, nil
}

// certificate returns the eigenvalues too, in descending order.
func (m *model) certificate() (*Certificate, []float64, error) {
	if m.sample == nil || len(m.sample.ids) == 0 {
		return nil, nil, nil
	}
	values, norm, err := m.sample.eigenvalues()
	if err != nil {
		return nil, nil, err
	}
	n := len(values)
	// A backward stable method errs by a small multiple of n u |K| (LAPACK Users' Guide, section 4.7).
	own := float64(8 * float64(n) * 0x1p-53 * norm)
	c := &Certificate{Records: n, Greatest: values[0], Least: values[n-1], Tolerance: m.sample.tolerance + own}
	switch {
	case c.Tolerance > 0 && c.Least >= c.Tolerance:
		c.Verdict = Holds
	case c.Least < -c.Tolerance:
		c.Verdict = Fails
	default:
		c.Verdict, c.TellableBy = Untold, m.tellableBy()
	}
	return c, values, nil
}

// eigenvalues are in descending order, with the Frobenius norm. O(n^3).
func (s *sample) eigenvalues() (values []float64, norm float64, err error) {
	n := len(s.ids)
	data, largest := make([]float64, n*n), 0.0
	for i, v := range s.values {
		data[i] = float64(v)
		largest = max(largest, math.Abs(data[i]))
	}
	if largest > 0 {
		for _, v := range data {
			norm += float64(v / largest * (v / largest))
		}
		norm = float64(math.Sqrt(norm) * largest)
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, data), false) {
		return nil, 0, fmt.Errorf("kernelmatrix: the eigenvalues of the sample of %d records did not converge", n)
	}
	values = e.Values(nil)
	slices.Reverse(values)
	return values, norm, nil
}

// tellableBy says what would raise the least eigenvalue above its tolerance. That of fewer records is never smaller
// (Cauchy's interlacing theorem).
func (m *model) tellableBy() string {
	n := len(m.sample.ids)
	if rank := rankOf(m.kernel.Kernel, m.space.Width); n > rank {
		return fmt.Sprintf("set params.psd_sample to %d or less: the rank of the matrix is at most %d, "+
			"so that %d records have an eigenvalue of 0", rank, rank, n)
	}
	if m.kernel.Kind == kernelops.RBF {
		for i := range n {
			for j := range i {
				if m.sample.values[i*n+j] == 1 {
					return fmt.Sprintf("leave out records that are equal or nearly so, "+
						"such as those at %s and %s: they have an eigenvalue near 0", m.sample.record(j),
						m.sample.record(i))
				}
			}
		}
		return fmt.Sprintf("set params.psd_sample below %d, raise params.gamma, "+
			"or scale the columns (params.features.scale)", n)
	}
	return fmt.Sprintf("set params.psd_sample below %d, or scale the columns (params.features.scale)", n)
}

// rankOf bounds the rank of a kernel's matrix over vectors of a width: the monomials of a polynomial.
func rankOf(k kernelops.Kernel, width int) int {
	switch {
	case k.Kind == kernelops.Linear:
		return width
	case k.Kind == kernelops.Polynomial:
		rank := 1 // of up to degree factors out of the columns and, with an offset, 1
		choices := width
		if k.Offset == 0 {
			choices--
		}
		for i := 1; i <= k.Degree && rank <= maxSample; i++ {
			rank = rank * (choices + i) / i
		}
		return rank
	}
	return math.MaxInt
}

// verdict is the certificate in words, after "the matrix", which has a number of rows. A sample that is positive
// semidefinite says nothing of the records that were not drawn.
func (c *Certificate) verdict(rows int64) string {
	switch c.Verdict {
	case Holds:
		if int64(c.Records) < rows {
			return fmt.Sprintf("of the %d records drawn is positive semidefinite; of all %d nothing is proved",
				c.Records, rows)
		}
		return "is positive semidefinite, as far as float32 can tell" // words that kept models promise
	case Fails:
		return "is not positive semidefinite"
	}
	return "cannot be told to be positive semidefinite or not: " + c.TellableBy
}

// bound bounds how far an element of the matrix may lie from the kernel of the same two
// float32 rows in exact arithmetic, given their squared norms. With u = 2^-24 and n columns a
// chain of n fused multiply-adds errs by g = n u / (1 - n u) times the sum of its magnitudes
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1), which is at most |x| |y|;
// tanh does not widen an error. For rbf see kernels.Function.ValueError.
func bound(k kernelops.Kernel, xx, yy float64, width int) float64 {
	const u = 0x1p-24
	n := float64(width)
	nu := float64(n * u)
	g := nu / (1 - nu)
	tiny := float64((n + 8) * 0x1p-145) // underflow
	most := float64(math.Sqrt(xx) * math.Sqrt(yy))
	dot := float64(g*most) + tiny
	scale, offset := math.Abs(float64(k.Scale)), math.Abs(float64(k.Offset))
	affine := float64(scale*most) + offset                                          // bounds |t|
	moved := float64(scale*dot) + float64(u*(affine+float64(scale*dot))) + 0x1p-149 // bounds the error of t
	switch k.Kind {
	case kernelops.Polynomial:
		return powerBound(affine, moved, k.Degree)
	case kernelops.Sigmoid:
		return min(2, moved) + 6*u
	}
	return dot
}

// powerBound bounds the error of t^degree by repeated products, |t| at most t and in error by e: each
// product rounds once, and what is smaller grows by less.
func powerBound(t, e float64, degree int) float64 {
	const u = 0x1p-24
	low, high, lost := t, t+e, 0.0
	for range degree - 1 {
		low = float64(low * t)
		high = float64(high * float64((t+e)*(1+u)))
		lost = float64(lost*max(1, t+e)) + 0x1p-149
	}
	if high > math.MaxFloat64 {
		return math.MaxFloat64
	}
	// The last term covers the float64 rounding of this sum.
	return min(high-low+lost+float64(high*float64(degree)*0x1p-50), math.MaxFloat64)
}
