package kernelops

import "math"

// byteKind is what a base of bytes is searched for: squared distances, or the keys of productKey. For these the
// "distance" that a tile compares is what a search by distance has, with other norms. About a center c, with
// x = c + x',
//
//	-2 <x, y> = n(x) + n(y) - 2 <x', y'> - 2 |c|^2 with n(x) = -2 <x', c>
type byteKind struct {
	products bool
	cosine   bool    // of rows over their lengths; these lose what float32 does
	offset   float64 // |c|
	square   float64 // |c|^2
	away     float64 // byteProductError of c
}

const (
	// byteProductError is more than all that is done in float64 with products of up to byteCols columns loses, the key
	// included, relative to the lengths: chains of byteCols/8 + 4 steps, 2^-39, four of them.
	byteProductError = 0x1p-35
	// byteCosineError is more than what float32 loses of the lengths of two rows, 2^-24 each.
	byteCosineError = 0x1p-22
	// byteFar is how much farther than the largest unit the center may be from the origin: terms are float32.
	byteFar = 0x1p40
)

// measureCenter takes in the center.
func (c *byteCenter) measureCenter() {
	c.square = 0
	for _, v := range c.values {
		c.square += float64(v * v)
	}
	c.offset = math.Sqrt(c.square)
	c.away = float64(2 * float64(byteProductError*c.offset))
}

// share sets the norm of a row for products, and what is lost of it whatever the other row is.
func (c *byteCenter) share(r *roundedRow, x []float32) {
	var lane [searchLanes]float64
	center := c.values[:len(x)]
	i := 0
	for ; i+searchLanes <= len(x); i += searchLanes {
		v, m := (*[searchLanes]float32)(x[i:]), (*[searchLanes]float64)(center[i:])
		for j := range lane {
			t := float64(v[j]) - m[j]
			lane[j] += float64(t * m[j])
		}
	}
	for j := range x[i:] {
		t := float64(x[i+j]) - center[i+j]
		lane[j] += float64(t * center[i+j])
	}
	r.norm = float64(-2 * lanesSum(&lane))
	r.away = c.away + float64(byteSlack*r.length) // terms are float32
	r.slop = float64(c.away * (r.length + float64(2*c.offset)))
}

// direction returns the row as bytes are made of it. A row of zeros has no direction, and becomes one that is always
// looked at.
func (c *byteKind) direction(buf *[]float32, x []float32) []float32 {
	if !c.cosine {
		return x
	}
	*buf = Resize(*buf, len(x))
	per := 1 / math.Sqrt(dot64(x, x))
	if math.IsInf(per, 1) {
		per = math.NaN()
	}
	for i, v := range x {
		(*buf)[i] = float32(float64(v) * per)
	}
	return *buf
}

// keys turns bounds of what a tile compares into bounds of keys.
func (c *byteKind) keys(low, high float64) (float64, float64) {
	switch {
	case c.cosine:
		add := 1 - c.square
		return float64(low/2) + add - byteCosineError, float64(high/2) + add + byteCosineError
	case c.products:
		return float64(low/2) - c.square, float64(high/2) - c.square
	}
	return low, high
}

// apart is the largest of what a tile compares with which a key may be up to most.
func (c *byteKind) apart(most float64) float64 {
	switch {
	case c.cosine:
		return float64(2 * (most + byteCosineError + (c.square - 1)))
	case c.products:
		return float64(2 * (most + c.square))
	}
	return most
}

// productKey is the key of a product or a cosine of two rows: the nearest have the least.
type productKey struct {
	cosine bool
	x      float64   // the length of the query
	norms  []float64 // those of the rows, of cosine
}

// of is the key of row number i, y. It is
//
//	0 - dot64(x, y), or
//	1 - min(1, max(-1, dot64(x, y)/(|x| |y|))), |x| = sqrt(dot64(x, x)), and 1 where one of them is of zeros
func (p *productKey) of(x, y []float32, i int) float64 {
	dot := dot64(x, y)
	if !p.cosine {
		return 0 - dot
	}
	if lengths := float64(p.x * p.norms[i]); lengths != 0 {
		return 1 - min(1, max(-1, dot/lengths))
	}
	return 1
}

// dot64 is the product of x and y in float64, by 8 lanes and the tree of sqDist64. The products are exact.
func dot64(x, y []float32) float64 {
	var lane [searchLanes]float64
	y = y[:len(x)]
	i := 0
	for ; i+searchLanes <= len(x); i += searchLanes {
		a, b := (*[searchLanes]float32)(x[i:]), (*[searchLanes]float32)(y[i:])
		for j := range lane {
			lane[j] += float64(float64(a[j]) * float64(b[j]))
		}
	}
	for j := range x[i:] {
		lane[j] += float64(float64(x[i+j]) * float64(y[i+j]))
	}
	return lanesSum(&lane)
}

// lanesSum adds lanes up by the tree of sqDist64.
func lanesSum(lane *[searchLanes]float64) float64 {
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}
