package kernelops

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// With the grid of the first part at 2^0, 5.25 is 5 and 0.25; its square, 27.5625, is 28 and -0.4375. The grid of the
// second part is 2^-37.
func TestPartsByHand(t *testing.T) {
	top := []float64{PartTop(PartBits)}
	for _, s := range All() {
		sums, squares := make([]float64, 2), make([]float64, 3)
		x := Matrix{Data: []float32{5.25, -1, 0x1p-25}, Rows: 3, Cols: 1, Stride: 1}
		s.SumParts(sums, top, x, make([]int32, 3))
		s.SquareParts(squares, top, x, make([]int32, 3))
		if !slices.Equal(sums, []float64{4, 0.25 + 0x1p-25}) ||
			!slices.Equal(squares, []float64{29, -0.4375, 0x1p-50}) {
			t.Errorf("%s: sums %v, squares %v", s.Name, sums, squares)
		}
		minus := float32(math.Copysign(0, -1))
		low, high, least := []float32{1, 0}, []float32{1, minus}, []float32{2, 2}
		x = Matrix{Data: []float32{-3, 0, 7, minus, 0, 0x1p-149}, Rows: 3, Cols: 2, Stride: 2}
		s.ColumnRanges(low, high, least, x)
		equalBits32(t, s.Name+" low", low, []float32{-3, minus})
		equalBits32(t, s.Name+" high", high, []float32{7, 0x1p-149})
		equalBits32(t, s.Name+" least", least, []float32{2, 0x1p-149})
	}
}

// PartTop is 1.5 * 2^(52 + exponent - PartBits).
func TestPartTop(t *testing.T) {
	for exponent := -600; exponent <= 600; exponent++ {
		if got, want := PartTop(exponent), math.Ldexp(1.5, 52+exponent-PartBits); got != want {
			t.Fatalf("2^%d: %v, want %v", exponent, got, want)
		}
	}
}

// The parts of PartRows rows at the limits of their range add up to exactly their sum.
func TestPartsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for _, exponent := range []int{-90, -20, 0, 3, 120} {
		for square, depth := range []int{52, 33} {
			x := Matrix{Data: make([]float32, PartRows), Rows: PartRows, Cols: 1, Stride: 1}
			want := zero()
			for i := range x.Data {
				v := math.Ldexp(1-float64(r.IntN(1<<22))*0x1p-24, exponent-r.IntN(2)*r.IntN(depth))
				x.Data[i] = float32(v)
				v = float64(x.Data[i]) // subnormal ones are rounded
				term := big.NewFloat(v)
				if square == 1 {
					term.SetPrec(2000).Mul(term, big.NewFloat(v))
				}
				want.Add(want, term)
			}
			for _, s := range All() {
				parts := make([]float64, 2+square)
				if square == 1 {
					s.SquareParts(parts, []float64{PartTop(2 * exponent)}, x, make([]int32, x.Rows))
				} else {
					s.SumParts(parts, []float64{PartTop(exponent)}, x, make([]int32, x.Rows))
				}
				sum := zero()
				for _, part := range parts {
					sum.Add(sum, big.NewFloat(part))
				}
				if sum.Cmp(want) != 0 {
					t.Errorf("%s, below 2^%d, square %d: %v, want %v", s.Name, exponent, square, sum, want)
				}
			}
		}
	}
}

func zero() *big.Float { return new(big.Float).SetPrec(2000) }
