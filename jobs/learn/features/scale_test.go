package features

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// read returns the dense vectors of points in a space.
func read(t testing.TB, s *Space, points []point) []float32 {
	t.Helper()
	v, err := s.NewReader().Read(denseBlock(points, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(v.Dense.Data)
}

func TestStandardByHand(t *testing.T) {
	s := spaceOf(t, scaleParams(ScaleStandard), leaves(fourPoints, 1, denseBlock))
	r := float32(1 / math.Sqrt(5)) // (3-4)/sqrt(5) and (7-4)/sqrt(5) = 3r
	third := float32(3 * (1 / math.Sqrt(5)))
	want := []float32{-third, 0, -r, 0, r, 0, third, 0}
	if got := read(t, s, slices.Concat(fourPoints...)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !slices.Equal(s.Mean, []float64{0, 0}) || math.Abs(s.Variance[0]-1) > 1e-15 || s.Variance[1] != 0 {
		t.Errorf("mean %v, variance %v after scaling", s.Mean, s.Variance)
	}
}

// The constant column has factor 1: a value that differs at predict keeps its distance.
func TestMinMaxByHand(t *testing.T) {
	s := spaceOf(t, scaleParams(ScaleMinMax), leaves(fourPoints, 2, denseBlock))
	got := read(t, s, []point{{"", []float32{1, 7}}, {"", []float32{4, 9}}, {"", []float32{7, 7}},
		{"", []float32{10, 7}}})
	if want := []float32{0, 0, 0.5, 2, 1, 0, 1.5, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s.Mean[0] != 0.5 || s.Mean[1] != 0 {
		t.Errorf("mean %v", s.Mean)
	}
}

// Rows (3, 4) and (0, 0): the norms are 5 and 0, the mean is (0.3, 0.4).
func TestL2ByHand(t *testing.T) {
	shards := [][]point{{{"", []float32{3, 4}}}, {{"", []float32{0, 0}}}}
	s := spaceOf(t, scaleParams(ScaleL2), leaves(shards, 1, denseBlock))
	if got := read(t, s, slices.Concat(shards...)); !slices.Equal(got, []float32{0.6, 0.8, 0, 0}) {
		t.Errorf("%v", got)
	}
	if math.Abs(s.Mean[0]-0.3) > 1e-7 || math.Abs(s.Mean[1]-0.4) > 1e-7 {
		t.Errorf("mean %v", s.Mean)
	}
}

// The first column holds 0, 0, 2, 2 over all rows: its variance is 1, and it is not
// centered. The second is 3 everywhere: constant, factor 1.
func TestSparseStandardByHand(t *testing.T) {
	shards := [][]point{
		{{"", []float32{0, 3}}, {"", []float32{0, 3}}},
		{{"", []float32{2, 3}}, {"", []float32{2, 3}}},
	}
	s := spaceOf(t, scaleParams(ScaleStandard), leaves(shards, 1, sparseBlock))
	if !s.Sparse || s.Mean != nil || s.Width != 2 {
		t.Errorf("%+v", s)
	}
	v, err := s.NewReader().Read(sparseBlock([]point{{"", []float32{2, 3}}, {"", []float32{0, 5}}}, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Sparse.Values, []float32{2, 3, 5}) || !slices.Equal(v.Sparse.Indptr, []int{0, 2, 3}) ||
		!slices.Equal(v.Sparse.Indices, []int32{0, 1, 1}) || v.Dense.Rows != 0 {
		t.Errorf("%+v", v.Sparse)
	}
	shards[1][0].x[0] = 6 // 0, 0, 6, 2: mean 2, variance (4+4+16+0)/4 = 6
	s = spaceOf(t, scaleParams(ScaleStandard), leaves(shards, 1, sparseBlock))
	if want := 1 / math.Sqrt(6); math.Abs(s.factor[0]-want) > 1e-15 || s.factor[1] != 1 {
		t.Errorf("factors %v, want %v and 1", s.factor, want)
	}
}

func TestSparseL2(t *testing.T) {
	shards := [][]point{{{"", []float32{3, 0, 4}}, {"", []float32{0, 0, 0}}}}
	s := spaceOf(t, scaleParams(ScaleL2), leaves(shards, 1, sparseBlock))
	v, err := s.NewReader().Read(sparseBlock(shards[0], 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Sparse.Values, []float32{0.6, 0.8}) || !slices.Equal(v.Sparse.Indptr, []int{0, 2, 2}) {
		t.Errorf("%+v", v.Sparse)
	}
}

func drawShards(t *rapid.T) [][]point {
	width := rapid.IntRange(1, 4).Draw(t, "width")
	offset := rapid.SampledFrom([]float32{0, 1, -1000}).Draw(t, "offset")
	draw := rapid.Custom(func(t *rapid.T) point {
		p := point{label: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "label")}
		for range width {
			v := rapid.IntRange(-8, 8).Draw(t, "value")
			if v > 4 {
				v = 0
			}
			p.x = append(p.x, float32(v)/3+offset)
		}
		return p
	})
	shards := rapid.SliceOfN(rapid.SliceOfN(draw, 0, 5), 1, 9).Draw(t, "shards")
	shards[0] = append(shards[0], draw.Draw(t, "one"))
	return shards
}

// Against the definition: two passes over all rows, in float64.
func TestMomentsAgainstTwoPasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := drawShards(rt)
		s := spaceOf(t, DefaultParams(), leaves(shards, 3, denseBlock))
		thin := spaceOf(t, scaleParams(ScaleStandard), leaves(shards, 3, sparseBlock))
		points := slices.Concat(shards...)
		for j := range s.Width {
			mean, variance := 0.0, 0.0
			low, high := points[0].x[j], points[0].x[j]
			for _, p := range points {
				mean += float64(p.x[j]) / float64(len(points))
				low, high = min(low, p.x[j]), max(high, p.x[j])
			}
			for _, p := range points {
				d := float64(p.x[j]) - mean
				variance += float64(d*d) / float64(len(points))
			}
			scale := max(1, mean*mean)
			if math.Abs(s.Mean[j]-mean) > 1e-12*scale || math.Abs(s.Variance[j]-variance) > 1e-12*scale {
				rt.Fatalf("column %d: mean %v, variance %v; want %v, %v", j, s.Mean[j], s.Variance[j], mean, variance)
			}
			if s.Min[j] != low || s.Max[j] != high {
				rt.Fatalf("column %d: range [%v, %v], want [%v, %v]", j, s.Min[j], s.Max[j], low, high)
			}
			if variance > 1e-9 && math.Abs(thin.factor[j]*math.Sqrt(variance)-1) > 1e-9*scale {
				rt.Fatalf("column %d: sparse factor %v, want %v", j, thin.factor[j], 1/math.Sqrt(variance))
			}
		}
	})
}

// What scaling promises: training values in [0, 1], variances of 1, rows of norm 1.
func TestScaledValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := drawShards(rt)
		points := slices.Concat(shards...)
		s := spaceOf(t, scaleParams(ScaleMinMax), leaves(shards, 2, denseBlock))
		for i, v := range read(t, s, points) {
			if v < 0 || v > 1 {
				rt.Fatalf("value %d is %v", i, v)
			}
		}
		s = spaceOf(t, scaleParams(ScaleStandard), leaves(shards, 2, denseBlock))
		for j, v := range s.Variance {
			if constant := s.Min[j] == s.Max[j]; constant && v != 0 || !constant && math.Abs(v-1) > 1e-9 {
				rt.Fatalf("column %d has variance %v", j, v)
			}
		}
		s = spaceOf(t, scaleParams(ScaleL2), leaves(shards, 2, denseBlock))
		got := read(t, s, points)
		for i := range points {
			sum := 0.0
			for _, v := range got[i*s.Width : (i+1)*s.Width] {
				sum += float64(v) * float64(v)
			}
			if sum != 0 && math.Abs(sum-1) > 1e-6 {
				rt.Fatalf("row %d has norm %v", i, math.Sqrt(sum))
			}
		}
	})
}
