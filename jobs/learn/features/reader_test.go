package features

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// TestFiniteRow puts each value at each place of rows of all lengths that the loop tells apart.
func TestFiniteRow(t *testing.T) {
	inf := float32(math.Inf(1))
	finite := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	not := []float32{inf, -inf, float32(math.NaN()), math.Float32frombits(0xff800001), math.Float32frombits(0x7fffffff),
		math.Float32frombits(0xffffffff)}
	for n := range 10 {
		row := make([]float32, n)
		for i := range row {
			for _, v := range finite {
				if row[i] = v; !finiteRow(row) {
					t.Errorf("%v is refused", row)
				}
			}
			for _, v := range not {
				if row[i] = v; finiteRow(row) {
					t.Errorf("%v is let pass", row)
				}
			}
			row[i] = math.MaxFloat32
		}
	}
}

// TestLasting hands on the memory of lasting blocks where it is neither copied nor scaled, and says so.
func TestLasting(t *testing.T) {
	for name, of := range map[string]func([]point, int) *dataset.Block{"dense": denseBlock, "sparse": sparseBlock} {
		for _, scale := range []string{ScaleNone, ScaleL2} {
			space := spaceOf(t, scaleParams(scale), leaves(fourPoints, 2, of))
			for _, lasting := range []bool{true, false} {
				block := of(fourPoints[0], 0)
				block.Lasting = lasting
				first := block.IDs[0]
				for _, keep := range []jobs.Choice{nil, func(b *dataset.Block, i int) bool {
					return b.IDs[i] == first
				}} {
					v, err := space.NewReader().Read(block, keep)
					if err != nil {
						t.Fatal(err)
					}
					if want := lasting && scale == ScaleNone &&
						(keep == nil || len(block.IDs) == 1); v.Lasting != want {
						t.Errorf("%s, scale %s, lasting %t, all kept %t: vectors that last: %t", name, scale, lasting,
							keep == nil, v.Lasting)
					}
				}
			}
		}
	}
}

// TestTrust reads the same vectors, and looks at no value.
func TestTrust(t *testing.T) {
	for _, scale := range []string{ScaleNone, ScaleStandard} {
		space := spaceOf(t, scaleParams(scale), leaves(fourPoints, 2, denseBlock))
		block := denseBlock(fourPoints[0], 0)
		careful, trusting := space.NewReader(), space.NewReader()
		trusting.Trust()
		a, err := careful.Read(block, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := trusting.Read(block, nil)
		if err != nil || !slices.Equal(a.Dense.Data, b.Dense.Data) {
			t.Errorf("%s: %v, want %v (error %v)", scale, b.Dense.Data, a.Dense.Data, err)
		}
		block.Dense.Values[0] = float32(math.NaN())
		if _, err := careful.Read(block, nil); err == nil {
			t.Errorf("%s: a NaN was let pass", scale)
		}
		if _, err := trusting.Read(block, nil); err != nil {
			t.Errorf("%s: %v", scale, err)
		}
	}
}
