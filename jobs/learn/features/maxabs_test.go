package features

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Columns 2, -4 and 1, and 0, 0 and 0: the factors are 1/4 and 1, dense and sparse.
func TestMaxAbsByHand(t *testing.T) {
	shards := [][]point{{{"", []float32{2, 0}}, {"", []float32{-4, 0}}}, {{"", []float32{1, 0}}}}
	points := []point{{"", []float32{2, 3}}, {"", []float32{-8, 0}}}
	s := spaceOf(t, scaleParams(ScaleMaxAbs), leaves(shards, 1, denseBlock))
	if got := read(t, s, points); !slices.Equal(got, []float32{0.5, 3, -2, 0}) {
		t.Errorf("%v", got)
	}
	s = spaceOf(t, scaleParams(ScaleMaxAbs), leaves(shards, 1, sparseBlock))
	v, err := s.NewReader().Read(sparseBlock(points, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Sparse.Values, []float32{0.5, 3, -2}) || !slices.Equal(v.Sparse.Indices, []int32{0, 1, 0}) {
		t.Errorf("%+v", v.Sparse)
	}
}

// Sparse or dense, the factors are the same, and blocks and tasks change no bit.
func TestMaxAbsOfAnyRecords(t *testing.T) {
	shards := rapid.Custom(drawShards).Example(11)
	factors := spaceOf(t, scaleParams(ScaleMaxAbs), leaves(shards, 1, denseBlock)).factor
	want, err := run(t, scaleParams(ScaleMaxAbs), leaves(shards, 1, sparseBlock), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSpace(want); err != nil || !slices.Equal(s.factor, factors) {
		t.Errorf("sparse %v, dense %v (%v)", s.factor, factors, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 6).Draw(rt, "records per block")
		got, err := run(t, scaleParams(ScaleMaxAbs), leaves(shards, size, sparseBlock), jobstest.DrawGrouping(rt))
		if err != nil || jobstest.Digest(got) != jobstest.Digest(want) {
			rt.Fatalf("another space (%v)", err)
		}
	})
}
