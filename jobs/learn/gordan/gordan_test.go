package gordan

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func dense(side, bias float64, values ...float32) Row {
	return Row{Values: values, Bias: bias, Side: side}
}

func sparse(side, bias float64, index []int32, values ...float32) Row {
	return Row{Index: index, Values: values, Bias: bias, Side: side}
}

// By hand: a record under both labels; the corners of a square, of which those across have one label; a point of one
// class between two of the other, at thirds of the way, which no sum of float64 coefficients gives; each with and
// without a bias, and what differs by one bit.
func TestByHand(t *testing.T) {
	next := math.Nextafter32(0.1, 1)
	for name, c := range map[string]struct {
		rows []Row
		want bool
	}{
		"nothing":           {nil, false},
		"one":               {[]Row{dense(1, 1, 0.1)}, false},
		"zeros":             {[]Row{dense(1, 0, 1, 2), dense(-1, 0, 0, 0)}, true},
		"zeros with a bias": {[]Row{dense(1, 1, 1, 2), dense(-1, 1, 0, 0)}, false},
		"both labels":       {[]Row{dense(1, 1, 0.1, 3), dense(1, 1, 7, 2), dense(-1, 1, 0.1, 3)}, true},
		"nearly both":       {[]Row{dense(1, 1, 0.1, 3), dense(1, 1, 7, 2), dense(-1, 1, next, 3)}, false},
		"both labels, sparse": {[]Row{sparse(1, 0.5, []int32{3, 1 << 30}, 1, 2), sparse(1, 0.5, nil),
			sparse(-1, 0.5, []int32{3, 1 << 30}, 1, 2)}, true},
		"exclusive or": {[]Row{dense(1, 1, 0, 0), dense(1, 1, 1, 1), dense(-1, 1, 0, 1), dense(-1, 1, 1, 0)}, true},
		"a third":      {[]Row{dense(1, 1, 0), dense(1, 1, 3), dense(-1, 1, 1)}, true},
		"beyond":       {[]Row{dense(1, 1, 0), dense(1, 1, 3), dense(-1, 1, -1e-45)}, false},
		"opposite":     {[]Row{dense(1, 0, 1, 2), dense(1, 0, -2, -4)}, true},
		"a number twice in a column": {[]Row{sparse(1, 0, []int32{2, 2}, 1, 2), sparse(-1, 0, []int32{2, 2}, 1, 2)},
			false},
	} {
		if got := Proves(c.rows); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// draw makes rows of columns of very different scale, far from zero by offset times their scale. Separable ones are at
// least gap from a plane.
func draw(r *rand.Rand, n, width int, offset, gap float64, separable bool) []Row {
	normal, rows := make([]float64, width), make([]Row, n)
	for j := range normal {
		normal[j] = r.NormFloat64()
	}
	for i := range rows {
		x, score := make([]float64, width), 0.0
		for j := range x {
			x[j] = r.NormFloat64()
			score += x[j] * normal[j]
		}
		side := float64(2*r.IntN(2) - 1)
		if separable {
			side = math.Copysign(1, score)
			for j := range x {
				x[j] += side * gap * normal[j]
			}
		}
		row := Row{Bias: 1, Side: side}
		for j, v := range x {
			row.Values = append(row.Values, float32(math.Ldexp(v+offset, 13*j-20)))
		}
		rows[i] = row
	}
	return rows
}

// Random labels of many records are not separable, and it is proved, in 1 to 5 dimensions, near zero and far from it.
// Of separable ones, none is ever proved not to be, however near the plane they are.
func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		width := 1 + r.IntN(5)
		offset := []float64{0, 1, 1e3}[seed%3]
		if !Proves(draw(r, 30+20*width, width, offset, 0, false)) {
			t.Errorf("seed %d: random labels in %d dimensions at %v are not proved inseparable", seed, width, offset)
		}
		if Proves(draw(r, 30+20*width, width, offset, []float64{1e-1, 1e-3, 1e-2}[seed%3], true)) {
			t.Errorf("seed %d: separable records in %d dimensions at %v are proved inseparable", seed, width, offset)
		}
	}
}

// Separable records with a copy of one under the other label, and with one in the middle of two of the other class.
func TestNearlySeparable(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		width := 2 + r.IntN(4)
		rows := draw(r, 60, width, []float64{0, 1e3}[seed%2], 0.1, true)
		if Proves(rows) {
			t.Fatalf("seed %d: separable records are proved inseparable", seed)
		}
		copied := rows[r.IntN(len(rows))]
		copied.Side = -copied.Side
		if !Proves(append(rows[:len(rows):len(rows)], copied)) {
			t.Errorf("seed %d: a copy under the other label is not proved", seed)
		}
	}
}

// Rows on both sides of a plane that is off zero by a bit of float32, over integers, are told apart by the integers
// alone: w = (1, 1, ..) finds a product of 1 for all rows but where one is shifted.
func TestTight(t *testing.T) {
	for width := 2; width <= 12; width++ {
		var rows []Row
		last := make([]float32, width)
		for j := range width {
			values := make([]float32, width)
			values[j] = float32(j + 3)
			rows = append(rows, dense(1, 0, values...))
			last[j] = -1
		}
		if !Proves(append(rows, dense(1, 0, last...))) { // sum of z_j / (j+3) and the last is 0
			t.Errorf("%d columns: not proved", width)
		}
		last[0] = 1e-45
		if Proves(append(rows, dense(1, 0, last...))) {
			t.Errorf("%d columns: proved, where no coefficients are", width)
		}
	}
}

// The integers of numbers are these, times one power of two.
func TestIntegers(t *testing.T) {
	for _, list := range [][]float64{{0, 0}, {1, -3, 0.5}, {0x1p-149, 1, 0x1p127}, {-0x1.fffffep127, 5e-324}} {
		got := integers(list)
		for i, v := range list {
			for k, u := range list {
				left := new(big.Rat).Mul(new(big.Rat).SetFloat64(v), new(big.Rat).SetInt(got[k]))
				right := new(big.Rat).Mul(new(big.Rat).SetFloat64(u), new(big.Rat).SetInt(got[i]))
				if left.Cmp(right) != 0 {
					t.Errorf("%v: %v", list, got)
				}
			}
		}
	}
	if got := fmt.Sprint(integers([]float64{1, -3, 0.5})); got != "[2 -6 1]" {
		t.Error(got)
	}
}

func BenchmarkProves(b *testing.B) {
	rows := draw(rand.New(rand.NewPCG(1, 5)), 2000, 5, 0, 0, false)
	for b.Loop() {
		if !Proves(rows) {
			b.Fatal("not proved")
		}
	}
}
