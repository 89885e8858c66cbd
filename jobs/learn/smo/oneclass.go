package smo

import "math"

// OneClass is a record of a one-class machine, as its certificate sees it.
type OneClass struct {
	Alpha, Cost float64 // 0 <= Alpha <= Cost
	Value       float64 // f, as computed
	Error       float64 // bounds how far Value is from the exact f of the stored coefficients
}

// Terms are those of the record at a bias, which is -rho. Size is the coefficient, Balance the cost, and Loss
// c max(0, rho - f).
func (r OneClass) Terms(bias float64) Terms {
	product := float64(r.Alpha * r.Value)
	decision := r.Value + bias
	t := Terms{Size: r.Alpha, Balance: r.Cost, Quadratic: product, Reach: math.Abs(product),
		AlphaError: float64(float64(r.Alpha*r.Error) * slack)}
	// The sum and the product with the cost are rounded.
	off := float64((r.Error + float64(2*unit*math.Abs(decision))) * slack)
	if !(decision-off >= 0) {
		t.Loss = float64(r.Cost * max(0, -decision))
		t.LossError = float64(float64(r.Cost*off) * slack)
	}
	return t
}

// CertifyOneClass returns the certificate of a one-class machine, whose coefficients are to add up to nu times the sum
// of the costs. The terms are exact sums, each rounded once, and Diagonal is at least the exact K_ii of each record
// whose cost is not 0.
//
// The objectives are
//
//	P(w, rho) = |w|^2/2 - T rho + sum of c_i max(0, rho - f_i),   T = nu times the sum of c
//	D(a)      = -|w(a)|^2/2,   0 <= a_i <= c_i,   sum of a = T
//
// (Schoelkopf and others, (3) and (11), times T squared and with rho and xi times T; Chang and Lin, section 2.3). The
// stored coefficients add up to T + e. Above T they are multiplied by T/(T + e), which makes |w| less. Below it each is
// raised by the same part of its room: the costs add up to S >= T, so that part is s = -e/(S - T - e), and w changes by
// s times the sum of (c_i - a_i) phi(x_i), which is no longer than s (S - T - e) kappa = |e| kappa. Either way
// D(a') >= -(|w| + |e| kappa)^2/2.
func CertifyOneClass(s Standing, nu, bias float64) Certificate {
	return s.certifyOneClass(nu, bias, s.errorsOneClass(nu, bias))
}

// Parts of the errors of a one-class machine, beside those of the others.
const roundedLift = roundedSize

// lift is T rho, with the error of T.
func (s Standing) lift(nu, bias float64) float64 { return -float64(float64(nu*s.Balance) * bias) }

func (s Standing) errorsOneClass(nu, bias float64) (e [parts]float64) {
	e[roundedLift] = float64(6 * unit * math.Abs(s.lift(nu, bias)))
	e[roundedQuadratic] = float64(5 * unit * s.Reach)
	e[roundedLoss] = float64(3 * unit * s.Loss)
	e[offQuadratic], e[offLoss] = s.AlphaError, s.LossError
	total := float64(nu * s.Balance)
	e[unbalanced] = float64(slack * (math.Abs(s.Size-total) + float64(4*unit*(s.Size+total)))) // at least |e|
	distance := float64(slack * float64(e[unbalanced]*math.Sqrt(s.Diagonal)))
	square := max(0, s.Quadratic) + e[roundedQuadratic] + e[offQuadratic]
	e[unbalancedCross] = float64(slack * float64(distance*math.Sqrt(square)))
	e[unbalancedSquare] = float64(distance*distance) / 2
	return e
}

func (s Standing) certifyOneClass(nu, bias float64, e [parts]float64) Certificate {
	half := s.Quadratic / 2
	c := Certificate{Primal: half - s.lift(nu, bias) + s.Loss, Dual: -half}
	quadratic := (e[roundedQuadratic] + e[offQuadratic]) / 2
	c.PrimalError = float64(slack*(quadratic+e[roundedLift]+e[roundedLoss]+e[offLoss])) + tiny
	c.DualError = float64(slack*(quadratic+e[unbalancedCross]+e[unbalancedSquare])) + tiny
	return c.closed()
}
