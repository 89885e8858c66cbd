package kernelops

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestNearestLimitMetExactly gives the filter a bound of 0 and equal scores: the distances from 0 to 4 and to 4 less a
// hair, which float32 cannot tell from 4. So the score of the nearer center equals the limit, and the center must be
// taken, whether it is in the same lane as the other or not. A tie goes to the lower index, even if its lane comes
// later.
//
// No data make Nearest meet the limit: a score would have to err by its whole bound.
func TestNearestLimitMetExactly(t *testing.T) {
	hair := 4 - 1e-9
	for _, s := range All() {
		if s.matrix == nil {
			continue
		}
		lanes := s.matrix.lanes
		for _, c := range []struct {
			first, second int // centers at 4 and at last; all others are far
			last          float64
			want          int
		}{
			{1, 2, hair, 2}, {1, 1 + lanes, hair, 1 + lanes}, {1, 1 + 2*lanes, hair, 1 + 2*lanes},
			{1, lanes, 4, 1}, {lanes, 1, 4, 1},
		} {
			centers := slices.Repeat([]float64{100}, 4*lanes)
			centers[c.first], centers[c.second] = 4, c.last
			packed := s.PackCenters(centers, []float32{0})
			packed.bound = nearestBound{}
			copy(packed.low, packed.norms)
			index, sqDist := []int32{-7}, []float64{-7}
			s.Nearest(index, sqDist, NewMatrix(1, 1), packed, &Workspace{})
			if index[0] != int32(c.want) || sqDist[0] != c.last*c.last {
				t.Errorf("%s %+v: center %d at %g", s.Name, c, index[0], sqDist[0])
			}
		}
	}
}

// TestNearestOfCentersAlone has a copy of the row behind the last center in memory, which must not be read as a center.
func TestNearestOfCentersAlone(t *testing.T) {
	for _, s := range All() {
		for rows := 1; rows < 40; rows++ {
			values := slices.Repeat([]float64{9}, rows+1) // nothing but ties: every center is scored in float64
			values[rows] = 2
			index, sqDist := make([]int32, 1), make([]float64, 1)
			c := s.PackCenters(values[:rows], []float32{0})
			s.Nearest(index, sqDist, Matrix{Data: []float32{2}, Rows: 1, Cols: 1, Stride: 1}, c, &Workspace{})
			if index[0] != 0 || sqDist[0] != 49 {
				t.Errorf("%s, %d centers: center %d at %g", s.Name, rows, index[0], sqDist[0])
			}
		}
	}
}

// TestNearestOfWholeBlocks has rows that fill blocks and threads exactly, no rows, and rows that are a multiple of the
// groups that norms are computed in, but not of tiles.
func TestNearestOfWholeBlocks(t *testing.T) {
	next := hardMatrices(20)["normal"]
	for _, rows := range []int{0, 8, 16, 40, blockRows, 2 * blockRows} {
		x, _ := guardedMatrix(rows, 3, 0, 0, next)
		centers := make([]float64, 3*20)
		for i := range centers {
			centers[i] = float64(next())
		}
		checkNearest(t, fmt.Sprint(rows, " rows"), x, centers, []float32{0, 0, 0})
	}
}

// TestPackCentersFilters: the filter is used if it has a bound for every center's norm.
func TestPackCentersFilters(t *testing.T) {
	most := math.Sqrt(maxNorm)
	for _, s := range All() {
		for name, c := range map[string]struct {
			values []float64
			filter bool
		}{
			"none":       {nil, false},
			"one":        {[]float64{1, 2}, true},
			"two":        {[]float64{1, 2, 3, 4}, true},
			"the bound":  {[]float64{1, 2, most, 0}, true},
			"beyond":     {[]float64{1, 2, most, most / 1000}, false},
			"not finite": {[]float64{1, 2, math.NaN(), 4}, false},
		} {
			packed := s.PackCenters(c.values, []float32{0, 0})
			if got := packed.matrix != nil; got != (c.filter && s.matrix != nil) {
				t.Errorf("%s, %s: filter %v", s.Name, name, got)
			}
		}
	}
	checkNearest(t, "no centers", NewMatrix(5, 2), nil, []float32{0, 0})
}

// TestNearestLongRows has rows as long as one call of an implementation takes, and longer ones.
func TestNearestLongRows(t *testing.T) {
	for _, cols := range []int{callElements, callElements + 1} {
		x := Matrix{Data: repeat(1, 2*cols), Rows: 2, Cols: cols, Stride: cols}
		centers := slices.Repeat([]float64{3}, 3*cols)
		centers[cols] = 2 // the second is nearer by 3 of 4 n
		checkNearest(t, fmt.Sprint(cols, " columns"), x, centers, make([]float32, cols))
	}
}

func TestNearestMisuse(t *testing.T) {
	const shape = "kernelops: result has the wrong shape"
	for _, s := range All() {
		c := s.PackCenters([]float64{1, 2, 3, 4}, []float32{0, 0})
		run := func(index, dists, cols int) func() {
			return func() {
				s.Nearest(make([]int32, index), make([]float64, dists), NewMatrix(3, cols), c,
					&Workspace{})
			}
		}
		for i, call := range []struct {
			f    func()
			want any
		}{
			{run(3, 3, 2), nil},
			{run(2, 3, 2), shape},
			{run(3, 4, 2), shape},
			{run(3, 3, 3), "kernelops: points have different dimensions"},
			{func() { s.PackCenters([]float64{1, 2, 3}, []float32{0, 0}) }, "kernelops: not a whole number of centers"},
			{func() { s.PackCenters(nil, nil) }, "kernelops: centers without columns"},
		} {
			if got := panicOf(call.f); got != call.want {
				t.Errorf("%s, call %d: panic %v, want %v", s.Name, i, got, call.want)
			}
		}
	}
}
