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

// boundsOf are bounds on a sample whose distances within clusters were seen.
func boundsOf(t *testing.T, x kernelops.Matrix, index []int32, cosine bool) *clustered {
	t.Helper()
	g := gathered(x, index, cosine, kernelops.Best())
	g.bounds = newMeanBounds(g)
	for j := range g.clusters {
		if err := g.addWithin(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// TestMeanBoundsHold: no bound is above a mean, neither by moments nor by pairs.
func TestMeanBoundsHold(t *testing.T) {
	for name, table := range hostileTables() {
		x := matrixOf(table)
		for _, how := range []string{"moments", "cosine", "pairs"} {
			g := boundsOf(t, x, nearestOf(x, 12), how == "cosine")
			if how == "pairs" {
				g.bounds.near = newPairBounds(g)
			}
			for at := range x.Rows {
				for j, bound := range slices.Clone(g.bounds.of(at)) {
					if mean := g.mean(at, g.clusters[j]); bound > mean {
						t.Fatalf("%s, %s: a mean distance of %v is said to be at least %v", name, how, mean, bound)
					}
				}
			}
		}
	}
}

// TestMeanBoundsAreTight: in many columns the distance to the mean is far below the mean distance. The bound by moments
// is not, and that by pairs is nearly equal.
func TestMeanBoundsAreTight(t *testing.T) {
	x, index := wideGroups(200, 2, 1)
	for how, share := range map[string]float64{"moments": 0.9, "cosine": 1 - 1e-5, "pairs": 1 - 1e-4} {
		g := boundsOf(t, x, index, how == "cosine")
		if how == "pairs" {
			g.bounds.near = newPairBounds(g)
		}
		for at := range 100 {
			if bound, mean := g.bounds.of(at)[1], g.mean(at, g.clusters[1]); bound < float64(share*mean) {
				t.Fatalf("%s: a mean of %v, a bound of %v", how, mean, bound)
			}
		}
	}
}

// wideGroups are rows of 300 normal numbers in groups that far apart in each column.
func wideGroups(n, groups int, apart float32) (kernelops.Matrix, []int32) {
	r, x, index := rand.New(rand.NewPCG(7, 7)), kernelops.NewMatrix(n, 300), make([]int32, n)
	for i := range index {
		index[i] = int32(i % groups)
		for j := range x.Cols {
			x.Row(i)[j] = float32(r.NormFloat64()) + apart*float32(i%groups)
		}
	}
	return x, index
}

// TestPairsWhereMomentsFail: groups that are hardly apart are told from each other by pairs alone, and equal ones by
// nothing.
func TestPairsWhereMomentsFail(t *testing.T) {
	for apart, want := range map[float32]string{0.1: "pairs", 0: "pairs", 10: "moments"} {
		x, index := wideGroups(400, 5, apart)
		g := gathered(x, index, false, kernelops.Best())
		got, err := g.widths(t.Context())
		if err != nil || !slices.Equal(got, unprunedWidths(x, index, 5, false)) {
			t.Fatalf("%v apart: widths are others than by all pairs (%v)", apart, err)
		}
		how := "nothing"
		if g.bounds != nil && g.bounds.near != nil {
			how = "pairs"
		} else if g.bounds != nil {
			how = "moments"
		}
		if how != want || g.open.looked > g.open.all/10 {
			t.Errorf("%v apart: bounds by %s, not %s, left %d of %d", apart, how, want, g.open.looked, g.open.all)
		}
	}
	x, index := wideGroups(400, 5, 0)
	for i := range x.Rows {
		copy(x.Row(i), x.Row(0))
	}
	x.Row(0)[0]++
	g := gathered(x, index, false, kernelops.Best())
	if got, err := g.widths(t.Context()); err != nil || !slices.Equal(got, unprunedWidths(x, index, 5, false)) {
		t.Fatalf("equal rows: widths are others than by all pairs (%v)", err)
	}
	if g.bounds != nil {
		t.Error("bounds that spare nothing are not left off")
	}
}
