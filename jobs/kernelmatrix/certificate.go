package kernelmatrix

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"gonum.org/v1/gonum/mat"
)

// Certificate is what the eigenvalues of the sample say of a symmetric matrix. Its digits may
// differ from build to build in their last places.
type Certificate struct {
	Records  int     `json:"records"` // drawn
	Least    float64 `json:"least_eigenvalue"`
	Greatest float64 `json:"greatest_eigenvalue"`
	// Tolerance bounds how far float32 and the computation may have moved an eigenvalue.
	Tolerance float64 `json:"tolerance"`
	// Holds says that no eigenvalue is below minus the tolerance: the sample is positive
	// semidefinite as far as float32 can tell. Otherwise the matrix is not.
	Holds bool `json:"holds"`
}

// Certify computes the certificate of a model; nil where nothing was drawn.
func Certify(a jobs.Arrays) (*Certificate, error) {
	m, err := readModel(a)
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
	c.Holds = c.Least >= -c.Tolerance
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

// verdict is the certificate in words.
func (c *Certificate) verdict() string {
	if c.Holds {
		return "positive semidefinite, as far as float32 can tell"
	}
	return "not positive semidefinite"
}
