package dual

import "math"

// unit is the largest relative error of a float64 operation.
const unit = 0x1p-53

// slack makes room for the rounding of the bounds themselves, which are sums of up to 2^32 terms above 0.
const slack = 1 + 0x1p-20

// tiny bounds what sums of up to 2^64 terms with costs of up to 2^64 lose to underflow.
const tiny = 0x1p-900

// gamma bounds the relative error of a sum of n terms above 0 (Higham, section 3.1).
func gamma(n int64) float64 {
	nu := float64(float64(n) * unit)
	return nu / (1 - nu)
}

// Standing measures records at one w and one list of coefficients: sums over the records, and maxima. Blocks may be
// joined in any order; the sums within a block are in the order of its records.
type Standing struct {
	Loss      float64 // of c loss
	Slope     float64 // of c |x| times a bound on the slope of the loss
	Bend      float64 // of c |x|^2 times a bound on how the slope changes
	Steep     float64 // of c times the bound on the slope, over records that may be beyond the tube
	Linear    float64 // of target alpha - epsilon |alpha|
	Size      float64 // of the magnitudes of both terms of Linear
	Quadratic float64 // of q alpha^2 / 2
	Reach     float64 // of the magnitude of alpha |x|

	Records   int64   // of the largest block
	Terms     int64   // of the longest row
	Violation float64 // the greatest

	Extent
}

// Add adds one record: short is target - y <w, x>, square is |x|^2, terms is the number of products in <w, x>.
func (s *Standing) Add(l Loss, target, alpha, short, square, cost float64, terms int) {
	length := math.Sqrt(square)
	slope, bend := l.slope(short)
	s.Loss += float64(cost * l.Of(short))
	s.Slope += float64(float64(cost*length) * slope)
	s.Bend += float64(float64(cost*square) * bend)
	if math.Abs(short) >= float64(l.Epsilon*(1-0x1p-50)) {
		s.Steep += float64(cost * (slope + float64(8*unit*l.Epsilon*bend)))
	}
	linear, tube := float64(target*alpha), float64(l.Epsilon*math.Abs(alpha))
	s.Linear += linear - tube
	s.Size += math.Abs(linear) + tube
	if l.Form == Logistic {
		s.addEntropy(alpha, cost)
	}
	s.Quadratic += float64(float64(float64(l.curvature(cost)*alpha)*alpha) / 2)
	s.Reach += float64(math.Abs(alpha) * length)
	s.extend(target-short, length)
	s.Records++
	s.Terms = max(s.Terms, int64(terms))
	s.Violation = max(s.Violation, l.Violation(alpha, short, cost))
}

// Certificate bounds how far weights and coefficients are from the best. Each objective is off by at most its error,
// and the gap between them is at most GapUpper: theorems, see the package.
type Certificate struct {
	Primal, PrimalError float64
	Dual, DualError     float64
	GapUpper            float64
}

// Certify returns the certificate of the weights w and the coefficients alpha at which all was measured. The vector of
// differs from W(alpha) by at most drift.
func Certify(l Loss, w, of []float64, all Standing, drift float64) Certificate {
	rounding := gamma(int64(len(w)) + 2) // of |w|^2 and |of|^2
	half, ofHalf := SquareOf(w)/2, SquareOf(of)/2
	off := float64(gamma(all.Terms+2) * norm(w)) // of a margin, times |x|
	sums := gamma(all.Records + 8)               // of a sum over records, whose terms have up to six roundings

	c := Certificate{Primal: half + all.Loss, Dual: all.Linear - all.Quadratic - ofHalf}
	c.PrimalError = float64(rounding*half) + float64(sums*all.Loss) + float64(off*all.Slope) +
		float64(float64(off*off)*all.Bend) + float64(unit*c.Primal)
	c.DualError = float64(rounding*ofHalf) + float64(sums*(all.Size+all.Quadratic)) + float64(norm(of)*drift) +
		float64(drift*drift)/2 + float64(2*unit*(all.Size+all.Quadratic+ofHalf))
	if off > 0 { // otherwise each s is its target, without rounding
		c.PrimalError += float64(float64(unit*l.Epsilon) * all.Steep)
	}
	c.PrimalError, c.DualError = float64(c.PrimalError*slack)+tiny, float64(c.DualError*slack)+tiny
	return c.gap()
}

// norm bounds |w|; if the squares may underflow, by the greatest magnitude.
func norm(w []float64) float64 {
	square := SquareOf(w)
	if square >= tiny {
		return float64(math.Sqrt(square) * slack)
	}
	greatest := 0.0
	for _, v := range w {
		greatest = max(greatest, math.Abs(v))
	}
	return float64(float64(math.Sqrt(float64(len(w)))*greatest) * slack)
}

// Scale is a typical distance from the tube of the records beyond it, weighted by cost: the mean for the loss
// epsilon-insensitive. It is 1 if no record is beyond the tube.
func (s Standing) Scale() float64 {
	if scale := s.Loss / s.Steep; scale > 0 && scale <= math.MaxFloat64 {
		return scale
	}
	return 1
}

// Drift bounds how far the vector of, a sum over blocks of sums over records of alpha y x, is from W(alpha), with the
// coefficients alpha with which the records were added to s.
func (s Standing) Drift(of []float64) float64 {
	return float64(slack * (float64(gamma(s.Records+4)*s.Reach) + float64(2*unit*norm(of)) + tiny))
}

// gap sets the bound on the gap.
func (c Certificate) gap() Certificate {
	gap := c.Primal - c.Dual
	c.GapUpper = float64((max(0, gap) + c.PrimalError + c.DualError + float64(unit*math.Abs(gap))) * slack)
	return c
}

// Better joins two certificates of one problem: best has the lesser primal objective, that of c if they are equal, and
// the greater dual objective. Each bounds the optimum, so the gap between them is a proved gap, too. second reports
// whether the weights are those of d.
func (c Certificate) Better(d Certificate) (best Certificate, second bool) {
	if second = d.Primal < c.Primal; second {
		c.Primal, c.PrimalError = d.Primal, d.PrimalError
	}
	if d.Dual > c.Dual {
		c.Dual, c.DualError = d.Dual, d.DualError
	}
	return c.gap(), second
}

// Relative is the proved gap as a part of the primal objective. It is 0 if the gap is no more than what underflow may
// lose: if weights of 0 cost nothing, both objectives are 0.
func (c Certificate) Relative() float64 {
	if c.GapUpper <= 8*tiny {
		return 0
	}
	return c.GapUpper / c.Primal
}
