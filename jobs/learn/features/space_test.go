package features

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
)

// Two shards of two points in the plane; the second column is constant.
var fourPoints = [][]point{
	{{"b", []float32{1, 7}}, {"a", []float32{3, 7}}},
	{{"b", []float32{5, 7}}, {"b", []float32{7, 7}}},
}

// Column 1: mean 4, variance (9+1+1+9)/4 = 5, range [1, 7].
func TestSpaceByHand(t *testing.T) {
	s := spaceOf(t, DefaultParams(), leaves(fourPoints, 1, denseBlock))
	if s.Width != 2 || s.Records != 4 || s.Sparse || !slices.Equal(s.Labels.List(), []string{"a", "b"}) ||
		!slices.Equal(s.ClassRecords, []int64{1, 3}) {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.Mean, []float64{4, 7}) || !slices.Equal(s.Variance, []float64{5, 0}) ||
		!slices.Equal(s.Min, []float32{1, 7}) || !slices.Equal(s.Max, []float32{7, 7}) {
		t.Errorf("mean %v, variance %v, range %v to %v", s.Mean, s.Variance, s.Min, s.Max)
	}
}

func TestIdentityIsNotCopied(t *testing.T) {
	s := spaceOf(t, DefaultParams(), leaves(fourPoints, 2, denseBlock))
	block := denseBlock(fourPoints[1], 2)
	v, err := s.NewReader().Read(block, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Rows != 2 || &v.Dense.Data[0] != &block.Dense.Values[0] || !slices.Equal(v.Class, []int32{1, 1}) ||
		!slices.Equal(v.Records, []int{0, 1}) || !slices.Equal(v.IDs, block.IDs) || v.Weights != nil {
		t.Errorf("%+v", v)
	}
}

func TestKeepChoosesRows(t *testing.T) {
	s := spaceOf(t, DefaultParams(), leaves(fourPoints, 2, denseBlock))
	block := denseBlock(slices.Concat(fourPoints...), 0)
	block.Labels[2] = []byte("unseen")
	block.Weights = []float32{1, 2, 3, 4}
	v, err := s.NewReader().Read(block, func(b *dataset.Block, i int) bool { return b.IDs[i].Offset%2 == 0 })
	if err != nil {
		t.Fatal(err)
	}
	if v.Rows != 2 || !slices.Equal(v.Dense.Data, []float32{1, 7, 5, 7}) || !slices.Equal(v.Class, []int32{1, -1}) ||
		!slices.Equal(v.Records, []int{0, 2}) || v.IDs[1].Offset != 2 || !slices.Equal(v.Weights, []float32{1, 3}) {
		t.Errorf("%+v", v)
	}
}
