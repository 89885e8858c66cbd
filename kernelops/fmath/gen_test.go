package fmath

import "math"

// gen is splitmix64 (Steele, Lea and Flood, OOPSLA 2014): integers only, so its
// arguments are the same everywhere.
type gen uint64

func (g *gen) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit returns a number in [0, 1) with 53 bits.
func (g *gen) unit() float64 { return float64(g.next()>>11) * 0x1p-53 }

// uniform returns a number between lo and hi.
func (g *gen) uniform(lo, hi float64) float64 { return lo + float64(g.unit()*(hi-lo)) }

// log2uniform returns ±m 2^e, m uniform in [1, 2), e uniform in [lo, hi].
func (g *gen) log2uniform(lo, hi int) float64 {
	r := g.next()
	m := math.Float64frombits(0x3ff<<52 | r>>12)
	e := lo + int(g.next()%uint64(hi-lo+1))
	x := math.Ldexp(m, e)
	if r&1 == 1 {
		x = -x
	}
	return x
}
