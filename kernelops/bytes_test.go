package kernelops

import (
	"math"
	"math/rand/v2"
	"testing"
)

// byteSets are the codes for rows of 8 bits that run here, by name.
func byteSets() map[string]*byteSet {
	sets := map[string]*byteSet{"generic": bytesGeneric()}
	for name, bytes := range byteSetsForTests() {
		sets[name] = bytes
	}
	for _, s := range All() {
		if s.bytes != nil {
			sets[s.Name] = s.bytes
		}
	}
	return sets
}

// roundedPair is the bound of two rows about a center of 0, and the distance itself.
func roundedPair(s *byteSet, x, y []float32) (low, high, exact float64) {
	c := byteCenter{values: make([]float64, len(x))}
	var lanes byteLanes
	ends := [2]roundedRow{}
	bytes := [2][]uint8{make([]uint8, len(x)), make([]uint8, len(x))}
	for i, row := range [][]float32{x, y} {
		ends[i] = c.measure(s, row, &lanes)
		c.round(s, &ends[i], bytes[i], row, 0, &lanes)
	}
	dot := int32(0)
	for k := range x {
		dot += int32(int8(bytes[0][k])) * int32(int8(bytes[1][k]))
	}
	b := byteBase{scale: 1}
	terms := make([]float32, byteTerms)
	b.setTerms(terms, 5, &ends[1])
	low, high = ends[0].bounds(terms, 5, b.scale, dot)
	return low, high, sqDist64(x, y)
}

// TestByteBoundByHand has rows that lose as much as the bound says. Of (127, 0.49), of unit 1, the second column is
// lost, which is all that (0, 127) has: the product is 62.23 and that of the bytes 0, and the bound 0.49*127 = 62.23.
// Of (127, 0.49) twice, with 0.49 and -0.49, both lose: the products err by 0.2401, and the bound is 0.49 twice
// 127.000945 and 0.2401.
func TestByteBoundByHand(t *testing.T) {
	const c = 0.49
	length := math.Hypot(127, c)
	for name, s := range byteSets() {
		for _, v := range []struct {
			x, y  []float32
			about float64 // the distance by the bytes
			slack float64
		}{
			{[]float32{127, c}, []float32{0, 127}, 2*127*127 + c*c, 2 * c * 127},
			{[]float32{0, -127}, []float32{-127, c}, 2*127*127 + c*c, 2 * c * 127},
			{[]float32{127, c}, []float32{127, -c}, 2 * c * c, 2 * (2*c*length + c*c)},
			{[]float32{254, 2 * c}, []float32{0, 254}, 4 * (2*127*127 + c*c), 4 * 2 * c * 127}, // units of 2
			{[]float32{127, 3}, []float32{1, 127}, 126*126 + 124*124, 0},
		} {
			low, high, exact := roundedPair(s, v.x, v.y)
			if !(low <= exact && exact <= high) {
				t.Errorf("%s: %v and %v: %g is not between %g and %g", name, v.x, v.y, exact, low, high)
			}
			reserve := 1e-5 * (127*127*2 + v.about)
			if math.Abs(low-(v.about-v.slack)) > reserve || math.Abs(high-(v.about+v.slack)) > reserve {
				t.Errorf("%s: %v and %v: between %g and %g, want %g -+ %g", name, v.x, v.y, low, high, v.about, v.slack)
			}
		}
	}
}

// tightPair makes rows whose bound is nearly reached: all that x loses lies along y, which loses nothing.
func tightPair(r *rand.Rand, cols int) (x, y []float32) {
	x, y = make([]float32, cols), make([]float32, cols)
	scale, sign := math.Ldexp(1, r.IntN(40)-20), float64(1-2*r.IntN(2))
	for k := 1; k < cols; k++ {
		y[k] = float32(r.IntN(255) - 127)
	}
	y[1+r.IntN(cols-1)] = 127
	x[0] = float32(127 * scale)
	for k := 1; k < cols; k++ {
		x[k] = float32(scale * (float64(r.IntN(200)-100) + sign*0.49*float64(y[k])/127))
	}
	return x, y
}

// TestByteBoundsHold compares bounds with the distance itself, of pairs that nearly reach them and of others.
func TestByteBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 0))
	next := hardMatrices(62)
	for name, s := range byteSets() {
		near := 0
		for run := range 600 {
			cols := 2 + r.IntN(60)
			x, y := tightPair(r, cols)
			tight := run%2 == 0
			if !tight {
				kind := [...]string{"normal", "subnormal", "tie", "overflow"}[run/2%4]
				fill(x, next[kind])
				fill(y, next[kind])
			}
			low, high, exact := roundedPair(s, x, y)
			if !(low <= exact && exact <= high) {
				t.Errorf("%s, run %d, %d columns: %g is not between %g and %g", name, run, cols, exact, low, high)
			}
			if tight && min(exact-low, high-exact) < 0.004*(high-low) {
				near++
			}
		}
		if near < 30 {
			t.Errorf("%s: %d pairs are near their bounds: the test finds nothing", name, near)
		}
	}
}

// TestByteRowsByHand rounds a row of 10 columns to units of 2, its largest being 254, about a center of 1.
func TestByteRowsByHand(t *testing.T) {
	x := []float32{255, -253, 1, 2, 3, 4, 5, 6, 7.5, 7}
	bytes := [...]int8{127, -127, 0, 0, 1, 2, 2, 2, 3, 3} // ties to even
	rest := 1. + 0 + 1 + 0 + 1 + 0.5*0.5
	center := make([]float64, len(x))
	for j := range center {
		center[j] = 1
	}
	for name, s := range byteSets() {
		c := byteCenter{values: center}
		var lanes byteLanes
		got := make([]uint8, len(x)+1)
		got[len(x)] = 77
		r := c.measure(s, x, &lanes)
		norm := 2.*254*254 + 1 + 4 + 9 + 16 + 25 + 6.5*6.5 + 36
		if r.unit != 2 || r.norm != norm || !about(r.length, math.Sqrt(norm)*(1+byteNormError)) {
			t.Errorf("%s: %+v, want a norm of %g in units of 2", name, r, norm)
		}
		for _, lift := range []float64{0, byteLift} {
			c.round(s, &r, got, x, lift, &lanes)
			for j, want := range bytes {
				if got[j] != uint8(int(want)+int(lift)) {
					t.Errorf("%s: byte %d is %d, want %d", name, j, got[j], want)
				}
			}
			if want := math.Sqrt(rest)*(1+byteNormError) + byteEpsilon*r.length; !about(r.lost, want) {
				t.Errorf("%s: %g is lost, want %g", name, r.lost, want)
			}
		}
		if got[len(x)] != 77 {
			t.Errorf("%s writes behind the row", name)
		}
	}
}

// TestByteCenters: means of the rows that are finite; whole numbers up to 255 lie about 128 and lose nothing.
func TestByteCenters(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, v := range []struct {
		data  []float32
		want  float64
		whole bool
	}{
		{[]float32{1.5, 2.5}, 2, false},
		{[]float32{0, 255, 3}, 128, true},
		{[]float32{0, 256}, 128, false},
		{[]float32{-1, 3}, 1, false},
		{[]float32{1, inf, 5, nan}, 3, false},
		{[]float32{nan}, 0, false},
	} {
		c := centerOf(Matrix{Data: v.data, Rows: len(v.data), Cols: 1, Stride: 1}, byteKind{})
		if c.values[0] != v.want || c.whole != v.whole {
			t.Errorf("%g: center %g, whole: %t", v.data, c.values[0], c.whole)
		}
	}
	for name, s := range byteSets() {
		c := byteCenter{values: []float64{128, 128, 128}, whole: true}
		var lanes byteLanes
		for _, v := range []struct {
			x    []float32
			unit float64
		}{{[]float32{0, 255, 7}, 1}, {[]float32{0, 256, 7}, 128. / 127}, {[]float32{-1, 255, 7}, 129. / 127}} {
			r := c.measure(s, v.x, &lanes)
			c.round(s, &r, make([]uint8, 3), v.x, byteLift, &lanes)
			if r.unit != v.unit || v.unit == 1 && r.lost > 1e-12 {
				t.Errorf("%s: %g: unit %g, lost %g", name, v.x, r.unit, r.lost)
			}
		}
	}
}

// TestByteLanesOfNaN: a row that is not finite has no norm.
func TestByteLanesOfNaN(t *testing.T) {
	for name, s := range byteSets() {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range 11 {
				x := make([]float32, 11)
				x[at] = float32(v)
				c := byteCenter{values: make([]float64, 11)}
				var lanes byteLanes
				if r := c.measure(s, x, &lanes); r.norm == r.norm || (&byteBase{scale: 1}).usable(&r) {
					t.Errorf("%s: %g in column %d: norm %g", name, v, at, r.norm)
				}
			}
		}
	}
}
