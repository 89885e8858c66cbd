package fmath

import (
	"math"
	"math/big"
)

// The oracle computes in big.Float at oraclePrec bits: Taylor series after an exact
// or correctly rounded reduction. It shares no constant and no formula with the package.
const oraclePrec = 320

func bf(x float64) *big.Float { return new(big.Float).SetPrec(oraclePrec).SetFloat64(x) }

func bfNew() *big.Float { return new(big.Float).SetPrec(oraclePrec) }

// Digits of ln 2 and pi from the tables; TestOracle derives them a second way.
var (
	bigLn2 = bigConst("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687542147932140170819150614827")
	bigPi  = bigConst("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384461")
)

func bigConst(s string) *big.Float {
	f, _, err := big.ParseFloat(s, 10, oraclePrec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

// bigExp returns exp(x) for |x| < 2^20: 2^n exp(r/2^16)^(2^16), |r| <= ln2/2.
func bigExp(x *big.Float) *big.Float {
	q, _ := bfNew().Quo(x, bigLn2).Float64()
	n := int(math.Floor(q + 0.5))
	r := bfNew().Sub(x, bfNew().Mul(bf(float64(n)), bigLn2))
	const halvings = 16
	if r.Sign() != 0 {
		r.SetMantExp(r, -halvings)
	}
	sum, term := bf(1), bf(1)
	for i := 1; i < 24; i++ { // 2^-17*24 / 24! is below 2^-480
		term.Mul(term, r)
		term.Quo(term, bf(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, n)
}

// bigLog returns log(x) by Halley's iteration on exp, each tripling the digits.
func bigLog(x float64) *big.Float {
	m, e2 := math.Frexp(x) // math.Log itself is wrong for subnormals on amd64 (Go 1.26)
	y, bx := bf(math.Log(m)+float64(e2)*math.Ln2), bf(x)
	for range 2 {
		e := bigExp(y)
		num := bfNew().Sub(bx, e)
		den := bfNew().Add(bx, e)
		num.Quo(num, den)
		num.Add(num, num)
		y.Add(y, num)
	}
	return y
}

// bigTanh returns tanh(x) for |x| < 2^18.
func bigTanh(x float64) *big.Float {
	b := bf(x)
	if math.Abs(x) < 0x1p-60 { // x - x^3/3, the next term is 2^-240 of it
		c := bfNew().Mul(b, b)
		c.Mul(c, b)
		return b.Sub(b, c.Quo(c, bf(3)))
	}
	e := bigExp(b.Add(b, b))
	return bfNew().Quo(bfNew().Sub(e, bf(1)), bfNew().Add(e, bf(1)))
}

// bigSincospi returns sin(pi x) and cos(pi x) for finite x.
func bigSincospi(x float64) (sin, cos *big.Float) {
	y := math.Mod(x, 2) // exact
	q := math.Round(2 * y)
	t := bfNew().Mul(bf(y-q/2), bigPi) // y-q/2 is exact
	s, c := bigTaylorSinCos(t)
	switch int(q) & 3 {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s, c = s.Neg(s), c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	return s, c
}

func bigTaylorSinCos(t *big.Float) (sin, cos *big.Float) {
	sin, cos = bfNew(), bfNew()
	term := bf(1)
	for i := range 64 { // 1/64! is 2^-295
		sum := cos
		if i&1 == 1 {
			sum = sin
		}
		if i&2 == 0 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Mul(term, t)
		term.Quo(term, bf(float64(i+1)))
	}
	return sin, cos
}

// ulps returns |got - want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	if math.IsNaN(got) || want.IsInf() {
		return math.Inf(1)
	}
	exp := want.MantExp(nil) - 53 // want = m 2^e, m in [1/2, 1)
	if exp < -1074 || want.Sign() == 0 {
		exp = -1074
	}
	g := bfNew()
	if math.IsInf(got, 0) {
		if want.MantExp(nil) > 1024 && want.Signbit() == (got < 0) {
			return 0 // beyond the range
		}
		g.SetMantExp(bf(math.Copysign(1, got)), 1024) // the step after the largest float64
	} else {
		g.SetFloat64(got)
	}
	d := bfNew().Sub(g, want)
	if d.Sign() == 0 {
		return 0
	}
	d.SetMantExp(d, -exp)
	f, _ := d.Abs(d).Float64()
	return f
}
