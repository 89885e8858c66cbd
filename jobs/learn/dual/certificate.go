package dual

import "math"

// unit is the largest relative error of a float64 operation.
const unit = 0x1p-53

// slack makes room for the rounding of the bounds themselves, which are sums of up to 2^32 terms above 0.
const slack = 1 + 0x1p-20

// tiny is more than all that is lost below the least normal float64, in sums of up to 2^64 terms of costs up to 2^64.
const tiny = 0x1p-900

// gamma bounds the relative error of a sum of n terms above 0 (Higham, section 3.1).
func gamma(n int64) float64 {
	nu := float64(float64(n) * unit)
	return nu / (1 - nu)
}

// Standing is where some records stand at one w and one list of coefficients: sums over the records, which may be added
// up over blocks in any order, and maxima. The sums within a block are in the order of its records.
type Standing struct {
	Loss      float64 // of c loss
	Slope     float64 // of c |x| times a bound on the slope of the loss
	Bend      float64 // of c |x|^2 times one on its change
	Steep     float64 // of c times that of the slope, of records that may be beyond the tube
	Linear    float64 // of target alpha - epsilon |alpha|
	Size      float64 // of the magnitudes of both
	Quadratic float64 // of q alpha^2 / 2
	Reach     float64 // of the magnitude of alpha |x|

	Records   int64   // of the largest block
	Terms     int64   // of the longest row
	Violation float64 // the greatest

	Extent
}

// Add adds one record, which is short of its target by target - y <w, x>, and whose row has that square and number of
// terms.
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

// Certificate says how good weights and coefficients are. The objectives are off by at most their errors, and the gap
// between them is at most GapUpper: theorems, see the package.
type Certificate struct {
	Primal, PrimalError float64
	Dual, DualError     float64
	GapUpper            float64
}

// Certify returns the certificate of the weights w at which all records stand, and of their coefficients alpha: of is
// W(alpha), but for drift at most.
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
	if off > 0 { // else each is as short as its target
		c.PrimalError += float64(float64(unit*l.Epsilon) * all.Steep)
	}
	c.PrimalError, c.DualError = float64(c.PrimalError*slack)+tiny, float64(c.DualError*slack)+tiny
	return c.gap()
}

// norm bounds |w|; where the squares may be lost below the least float64, by the greatest of all.
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

// Scale is how far the records beyond the tube are from it, those that cost more counting more.
func (s Standing) Scale() float64 {
	if scale := s.Loss / s.Steep; scale > 0 && scale <= math.MaxFloat64 {
		return scale
	}
	return 1
}

// Drift bounds how far the weights of, which are sums over blocks of sums over records of alpha y x, are from W(alpha):
// of the coefficients with which all records were added to the standing.
func (s Standing) Drift(of []float64) float64 {
	return float64(slack * (float64(gamma(s.Records+4)*s.Reach) + float64(2*unit*norm(of)) + tiny))
}

// gap sets the bound on the gap.
func (c Certificate) gap() Certificate {
	gap := c.Primal - c.Dual
	c.GapUpper = float64((max(0, gap) + c.PrimalError + c.DualError + float64(unit*math.Abs(gap))) * slack)
	return c
}

// Better joins two certificates of one problem: of the weights whose primal objective is the least, ties to those of c,
// and of the coefficients whose dual objective is the greatest. Each bounds the best of all, so the gap between them is
// one as well. It reports whether the weights are those of d.
func (c Certificate) Better(d Certificate) (best Certificate, second bool) {
	if second = d.Primal < c.Primal; second {
		c.Primal, c.PrimalError = d.Primal, d.PrimalError
	}
	if d.Dual > c.Dual {
		c.Dual, c.DualError = d.Dual, d.DualError
	}
	return c.gap(), second
}

// Relative is the proved gap as a part of the primal objective, which is at least the best one; of a gap that is no
// more than what underflow takes, 0: where weights of 0 cost nothing, both objectives are 0.
func (c Certificate) Relative() float64 {
	if c.GapUpper <= 8*tiny {
		return 0
	}
	return c.GapUpper / c.Primal
}
