package smo

import "math"

// unit is the largest relative error of a float64 operation.
const unit = 0x1p-53

// slack makes room for the rounding of the bounds themselves, which are sums of up to 2^32 terms above 0.
const slack = 1 + 0x1p-20

// tiny is more than all that is lost below the least normal float64, in sums of up to 2^64 terms.
const tiny = 0x1p-900

// gamma bounds the relative error of a sum of n terms above 0 (Higham, section 3.1).
func gamma(n int64) float64 {
	nu := float64(float64(n) * unit)
	return nu / (1 - nu)
}

// Record is a variable of a classifier, as its certificate sees it.
type Record struct {
	Alpha, Y, Cost float64 // 0 <= Alpha <= Cost; Y is +1 or -1
	Value          float64 // f, without the bias, as computed
	Error          float64 // bounds how far Value is from the exact f of the stored coefficients
}

// Number is a record of regression, as its certificate sees it.
type Number struct {
	Beta, Cost float64 // |Beta| <= Cost
	Target     float64
	Epsilon    float64 // by how much f + b may be off and cost nothing
	Value      float64 // f, without the bias, as computed
	Error      float64 // bounds how far Value is from the exact f of the stored coefficients
}

// Terms are what a record adds to the sums over all records, or those sums.
type Terms struct {
	Size       float64 // alpha; of a number beta target - epsilon |beta|
	Balance    float64 // alpha y; of a number beta
	Quadratic  float64 // alpha y f; of a number beta f
	Reach      float64 // |alpha f|
	Loss       float64 // c max(0, 1 - y (f + b)); of a number c max(0, |target - f - b| - epsilon)
	AlphaError float64 // bound on the error of alpha y f before it is rounded, and twice that of the size
	LossError  float64 // bound on the error of the loss, with its rounding
}

// List returns the terms in the order of their declaration, so that exact sums may add them up.
func (t Terms) List() [7]float64 {
	return [...]float64{t.Size, t.Balance, t.Quadratic, t.Reach, t.Loss, t.AlphaError, t.LossError}
}

// TermsOf is the inverse of List.
func TermsOf(v [7]float64) Terms { return Terms{v[0], v[1], v[2], v[3], v[4], v[5], v[6]} }

// Terms are those of the record at a bias.
func (r Record) Terms(bias float64) Terms {
	product := float64(r.Alpha * r.Value)
	decision := r.Value + bias
	short := 1 - float64(r.Y*decision)
	t := Terms{
		Size: r.Alpha, Balance: float64(r.Alpha * r.Y), Quadratic: float64(product * r.Y), Reach: math.Abs(product),
		AlphaError: float64(float64(r.Alpha*r.Error) * slack),
	}
	// The sum, the difference and the product with the cost are rounded.
	off := float64((r.Error + float64(unit*math.Abs(decision)) + float64(2*unit*math.Abs(short))) * slack)
	if !(short+off <= 0) {
		t.Loss = float64(r.Cost * max(0, short))
		t.LossError = float64(float64(r.Cost*off) * slack)
	}
	return t
}

// Terms are those of the record at a bias.
func (r Number) Terms(bias float64) Terms {
	product, tube := float64(r.Beta*r.Value), float64(r.Epsilon*math.Abs(r.Beta))
	linear := float64(r.Beta * r.Target)
	decision := r.Value + bias
	far := math.Abs(r.Target - decision)
	t := Terms{Size: linear - tube, Balance: r.Beta, Quadratic: product, Reach: math.Abs(product)}
	// Both products and the difference are rounded.
	size := float64(4 * unit * (math.Abs(linear) + tube))
	t.AlphaError = float64((float64(math.Abs(r.Beta)*r.Error) + size) * slack)
	beyond := far - r.Epsilon
	off := float64((r.Error + float64(unit*math.Abs(decision)) + float64(unit*far) + float64(2*unit*math.Abs(beyond))) *
		slack)
	if !(beyond+off <= 0) {
		t.Loss = float64(r.Cost * max(0, beyond))
		t.LossError = float64(float64(r.Cost*off) * slack)
	}
	return t
}

// Standing is where all records stand at one bias. Those of numbers are exact sums.
type Standing struct {
	Terms            // sums over the records
	Rate     float64 // at least |target| + epsilon of each number whose beta is not 0; 1 of classes
	Diagonal float64 // at least the exact K_ii of each record whose alpha is not 0
	Depth    int64   // the most roundings that a term went through on its way into a sum; 0 of exact sums, rounded once
}

// Add adds a record with its exact K_ii, or a bound above it, one record after another in float64.
func (s *Standing) Add(r Record, bias, diagonal float64) {
	t := r.Terms(bias)
	s.Size += t.Size
	s.Balance += t.Balance
	s.Quadratic += t.Quadratic
	s.Reach += t.Reach
	s.Loss += t.Loss
	s.AlphaError += t.AlphaError
	s.LossError += t.LossError
	s.Rate = 1
	if s.Depth++; r.Alpha != 0 {
		s.Diagonal = max(s.Diagonal, diagonal)
	}
}

// Certificate is the proof of how good a classifier is. Primal is the objective of w and b, up to PrimalError. Dual is
// that of coefficients with y'a = 0, up to DualError. The objective of w and b is at most GapUpper above the least of
// all, if the kernel is positive semidefinite; see the package.
type Certificate struct {
	Primal, PrimalError float64
	Dual, DualError     float64
	Gap                 float64 // Primal - Dual, rounded
	GapUpper            float64 // +Inf if nothing is proved
}

// Parts of the errors.
const (
	roundedSize = iota
	roundedQuadratic
	roundedLoss
	offQuadratic
	offLoss
	unbalanced
	unbalancedCross
	unbalancedSquare
	parts
)

// Certify returns the certificate of all records.
func Certify(s Standing) Certificate { return s.certify(s.errors()) }

// errors bounds each part of the errors.
func (s Standing) errors() (e [parts]float64) {
	// Besides, each sum is rounded at its end and in its objective, as are products before they are added.
	depth := gamma(s.Depth)
	e[roundedSize] = float64((depth + depth + 3*unit) * math.Abs(s.Size)) // that of the balance as well
	e[roundedQuadratic] = float64((depth + 5*unit) * s.Reach)
	e[roundedLoss] = float64((depth + 3*unit) * s.Loss)
	e[offQuadratic], e[offLoss] = s.AlphaError, s.LossError

	off := float64(slack * (math.Abs(s.Balance) + float64(depth*math.Abs(s.Size))))
	distance := float64(slack * float64(off*math.Sqrt(s.Diagonal))) // |d| of the package
	square := max(0, s.Quadratic) + e[roundedQuadratic] + e[offQuadratic]
	e[unbalanced] = float64(slack * float64(math.Abs(s.Balance)*s.Rate))
	e[unbalancedCross] = float64(slack * float64(distance*math.Sqrt(square)))
	e[unbalancedSquare] = float64(distance*distance) / 2
	return e
}

// certify joins the parts of the errors.
func (s Standing) certify(e [parts]float64) Certificate {
	half := s.Quadratic / 2
	c := Certificate{Primal: half + s.Loss, Dual: s.Size - half}
	quadratic := (e[roundedQuadratic] + e[offQuadratic]) / 2
	c.PrimalError = float64(slack*(quadratic+e[roundedLoss]+e[offLoss])) + tiny
	c.DualError = float64(slack*(quadratic+e[roundedSize]+
		e[unbalanced]+e[unbalancedCross]+e[unbalancedSquare])) + tiny
	return c.closed()
}

// closed has the gap of both objectives, and its bound.
func (c Certificate) closed() Certificate {
	c.Gap = c.Primal - c.Dual
	c.GapUpper = float64(slack * (max(0, c.Gap) + float64(unit*math.Abs(c.Gap)) + c.PrimalError + c.DualError))
	if !(c.GapUpper >= 0) || c.Gap != c.Gap {
		c.GapUpper = math.Inf(1)
	}
	return c
}

// Relative is the proved gap as a part of the primal objective, which is at least the least of all; +Inf if that is
// not above 0. Where it is surely below 0, as that of a one-class machine, the least of all is further from 0.
func (c Certificate) Relative() float64 {
	switch below := -c.Primal - c.PrimalError; {
	case c.GapUpper <= 1e6*tiny: // nothing but what is added for underflow
		return 0
	case below > 0:
		return c.GapUpper / below
	case !(c.Primal > 0):
		return math.Inf(1)
	}
	return c.GapUpper / c.Primal
}
