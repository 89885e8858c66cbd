package kernelops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Centers of a line at 0, 4, 4 and 10. From 3, their squared distances are 9, 1, 1 and 49.
func TestWithinByHand(t *testing.T) {
	x := Matrix{Data: []float32{3, 0}, Rows: 2, Cols: 1, Stride: 1}
	for _, s := range All() {
		c := s.PackCenters([]float64{0, 4, 4, 10}, []float32{0})
		for gap, want := range map[float64]string{
			0: "[1 2] [1 1], [0] [0]", 7.9: "[1 2] [1 1], [0] [0]", 8: "[0 1 2] [9 1 1], [0] [0]",
			16:          "[0 1 2] [9 1 1], [0 1 2] [0 16 16]",
			math.Inf(1): "[0 1 2 3] [9 1 1 49], [0 1 2 3] [0 16 16 100]",
		} {
			var w Within
			w.Find(s, x, c, gap, &Workspace{})
			firstIndex, firstDist := w.Row(0)
			index, sqDist := w.Row(1)
			if got := fmt.Sprint(firstIndex, firstDist) + ", " + fmt.Sprint(index, sqDist); got != want {
				t.Errorf("%s, gap %g: %s, want %s", s.Name, gap, got, want)
			}
		}
	}
}

// withinLoop is the loop of Find's comment.
func withinLoop(x Matrix, centers []float64, gap float64) (w Within) {
	_, least := nearestLoop(x, centers)
	d := make([]float64, 1)
	w.Start = []int{0}
	for i := range x.Rows {
		for j := range len(centers) / x.Cols {
			groupDistancesGeneric(d, x.Cols, x.Row(i), x.Cols, centers, []int32{int32(j)})
			if d[0] < math.Inf(1) && d[0] <= least[i]+gap {
				w.Index, w.SqDist = append(w.Index, int32(j)), append(w.SqDist, d[0])
			}
		}
		w.Start = append(w.Start, len(w.Index))
	}
	return w
}

// Every set lists what the loop lists: near and far from the origin, at ties, with gaps that are met exactly, and where
// no float32 score has a bound.
func TestWithinIsTheLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 0))
	for name, value := range map[string]func() float64{
		"normal":   r.NormFloat64,
		"integers": func() float64 { return float64(r.IntN(4)) },
		"far":      func() float64 { return 1e5 + r.NormFloat64() },
		"wide":     func() float64 { return math.Exp2(float64(r.IntN(40))) * r.NormFloat64() },
		"huge":     func() float64 { return 1e37 * r.NormFloat64() },
	} {
		for _, shape := range [][3]int{{1, 1, 1}, {70, 3, 5}, {33, 17, 40}, {150, 8, 100}, {5, 2, 2}} {
			x, centers := NewMatrix(shape[0], shape[1]), make([]float64, shape[1]*shape[2])
			for i := range x.Data {
				x.Data[i] = float32(value())
			}
			for i := range centers {
				centers[i] = value()
			}
			_, least := nearestLoop(x, centers)
			all := withinLoop(x, centers, math.Inf(1))
			for _, gap := range []float64{0, 1, least[0], all.SqDist[len(all.SqDist)-1] - least[len(least)-1], 1e300} {
				if !(gap >= 0) {
					continue
				}
				checkWithin(t, fmt.Sprintf("%s %v, gap %g", name, shape, gap), x, centers, gap)
			}
		}
	}
}

func checkWithin(t *testing.T, where string, x Matrix, centers []float64, gap float64) {
	t.Helper()
	want := withinLoop(x, centers, gap)
	for _, s := range All() {
		w := Within{Start: []int{7}, Index: []int32{7}, SqDist: []float64{7}}
		w.Find(s, x, s.PackCenters(centers, make([]float32, x.Cols)), gap, &Workspace{Threads: 2})
		if !slices.Equal(w.Start, want.Start) || !slices.Equal(w.Index, want.Index) {
			t.Fatalf("%s on %s: %v %v, want %v %v", s.Name, where, w.Start, w.Index, want.Start, want.Index)
		}
		equalBits(t, s.Name+" on "+where, w.SqDist, want.SqDist)
	}
}

func TestWithinMisuse(t *testing.T) {
	for _, s := range All() {
		c := s.PackCenters([]float64{1, 2}, []float32{0, 0})
		for want, f := range map[string]func(){
			"kernelops: a gap below 0": func() {
				(&Within{}).Find(s, NewMatrix(1, 2), c, math.NaN(), &Workspace{})
			},
			"kernelops: points have different dimensions": func() {
				(&Within{}).Find(s, NewMatrix(1, 3), c, 0, &Workspace{})
			},
		} {
			if got := panicOf(f); got != any(want) {
				t.Errorf("%s: panic %v, want %v", s.Name, got, want)
			}
		}
	}
}
