package kmeans

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/kernelops"
)

// matrixOf are rows as a matrix.
func matrixOf(table [][]float32) kernelops.Matrix {
	x := kernelops.NewMatrix(len(table), len(table[0]))
	for i, row := range table {
		copy(x.Row(i), row)
	}
	return x
}

// Records at -1 and 1, a wide cluster of -70 and 160, whose bound is the least, and a tight one at 115.75: to 1 it is
// nearer, on the mean, by a quarter.
func TestNearestClusterByHand(t *testing.T) {
	x := matrixOf([][]float32{{-1}, {1}, {-70}, {160}, {115.75}, {115.75}})
	g := gathered(x, []int32{0, 0, 1, 1, 2, 2}, false, kernelops.Best())
	widths, err := g.widths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// of -1: a = 2, means 115 and 116.75; of 1: a = 2, means 115 and 114.75
	near(t, "width of -1", widths[0], (115-2)/115.0, 1e-15)
	near(t, "width of 1", widths[1], (114.75-2)/114.75, 1e-15)
}

// TestSilhouetteIsUnpruned compares widths with those by all pairs, to the bit: records in the clusters of the nearest
// of some of them, or at random.
func TestSilhouetteIsUnpruned(t *testing.T) {
	spared := 0
	for name, table := range hostileTables() {
		x := matrixOf(table)
		for _, k := range []int{1, 2, 3, 20, len(table)} {
			for how, index := range map[string][]int32{
				"nearest": nearestOf(x, k), "uneven": unevenOf(x.Rows, k),
			} {
				for _, cosine := range []bool{false, true} {
					want := unprunedWidths(x, index, k, cosine)
					for _, ops := range kernelops.All() {
						g := gathered(x, index, cosine, ops)
						got, err := g.widths(t.Context())
						if err != nil || !slices.Equal(got, want) {
							t.Fatalf("%s, %d clusters, %s, cosine %v, %s: widths are others than by all pairs (%v)",
								name, k, how, cosine, ops.Name, err)
						}
						spared += max(0, -g.spent)
					}
				}
			}
		}
	}
	if spared < 100_000 {
		t.Errorf("bounds spared %d distances: nothing was tested", spared)
	}
}

// nearestOf assigns rows to the nearest of the first k.
func nearestOf(x kernelops.Matrix, k int) []int32 {
	index, sqDist := make([]int32, x.Rows), make([]float64, x.Rows)
	s := kernelops.Generic()
	var ws kernelops.Workspace
	s.Nearest(index, sqDist, x, s.PackCenters(wide(x.Data[:k*x.Cols]), make([]float32, x.Cols)), &ws)
	return index
}

// unevenOf assigns rows at random: most to the first clusters, and none to some.
func unevenOf(n, k int) []int32 {
	r, index := rand.New(rand.NewPCG(5, uint64(k))), make([]int32, n)
	for i := range index {
		index[i] = int32(float64(k) * math.Pow(r.Float64(), 4))
	}
	return index
}

// TestMeanBoundsHold: no bound is above a mean, and where records lie in a ball far away it is near the mean.
func TestMeanBoundsHold(t *testing.T) {
	for name, table := range hostileTables() {
		for _, cosine := range []bool{false, true} {
			x := matrixOf(table)
			g := gathered(x, nearestOf(x, 12), cosine, kernelops.Best())
			g.bounds = newMeanBounds(g)
			for j := range g.clusters {
				if err := g.addWithin(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			for at := range x.Rows {
				for j, bound := range slices.Clone(g.bounds.of(at)) {
					if mean := g.mean(at, g.clusters[j]); bound > mean {
						t.Fatalf("%s, cosine %v: a mean distance of %v is said to be at least %v", name, cosine, mean,
							bound)
					}
				}
			}
		}
	}
}

// TestMeanBoundsAreTight: in many columns the distance to the mean is far below the mean distance; the bound by moments
// is not.
func TestMeanBoundsAreTight(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	x := kernelops.NewMatrix(200, 300)
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64())
	}
	index := make([]int32, 200)
	for i := range index {
		index[i] = int32(i % 2)
		for j := range x.Cols {
			x.Row(i)[j] += float32(i % 2)
		}
	}
	for _, cosine := range []bool{false, true} {
		g := gathered(x, index, cosine, kernelops.Best())
		g.bounds = newMeanBounds(g)
		for j := range g.clusters {
			if err := g.addWithin(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
		share := 0.9
		if cosine {
			share = 1 - 1e-5
		}
		for at := range 100 {
			if bound, mean := g.bounds.of(at)[1], g.mean(at, g.clusters[1]); bound < float64(share*mean) {
				t.Fatalf("cosine %v: a mean of %v, a bound of %v", cosine, mean, bound)
			}
		}
	}
}
