package dataset

import (
	"fmt"
	"slices"
	"testing"
)

// sliced is a block of three records of every sort, with offsets.
func sliced(sparse bool) *Block {
	b := &Block{IDs: []Identity{{"a", 0}, {"a", 7}, {"b", 0}},
		Places: []Identity{{"p", 0}, {"p", 9}, {"q", 0}}, Labels: [][]byte{[]byte("x"), []byte("y"), []byte("z")},
		Texts: [][]byte{[]byte("t"), []byte("u"), []byte("v")}, Weights: []float32{1, 2, 3}, Skipped: make([]Skip, 2),
		Notes: &Notes{}, Subtracted: []Offset{{0, 5}}, Lasting: true, Rest: 9}
	if sparse {
		b.Sparse = Sparse{Width: 4, Indptr: []int{0, 2, 2, 3}, Indices: []int32{0, 3, 1}, Values: []float32{1, 2, 3}}
	} else {
		b.Dense = Dense{Width: 2, Values: []float32{1, 2, 3, 4, 5, 6}}
	}
	return b
}

func TestSliceByHand(t *testing.T) {
	for _, is := range []bool{false, true} {
		b := sliced(is)
		for from := range 4 {
			for to := from; to <= 3; to++ {
				part := b.Slice(from, to)
				n := to - from
				if !slices.Equal(part.IDs, b.IDs[from:to]) || !slices.Equal(part.Places, b.Places[from:to]) ||
					len(part.Labels) != n || len(part.Texts) != n ||
					len(part.Weights) != n || part.Skipped != nil || part.Notes != nil || part.Rest != 0 ||
					!part.Lasting || len(part.Subtracted) != 1 {
					t.Errorf("[%d, %d) is %+v", from, to, part)
				}
				if is && (part.Sparse.Width != 4 || len(part.Sparse.Indptr) != n+1 || part.Sparse.Indptr[0] != 0 ||
					part.Sparse.Indptr[n] != len(part.Sparse.Values)) {
					t.Errorf("[%d, %d) is %+v", from, to, part.Sparse)
				}
				for i := range part.IDs {
					if is {
						index, values := part.Sparse.Row(i)
						wantIndex, want := b.Sparse.Row(from + i)
						if !slices.Equal(index, wantIndex) || !slices.Equal(values, want) {
							t.Errorf("row %d of [%d, %d): %v %v", i, from, to, index, values)
						}
					} else if !slices.Equal(part.Dense.Row(i), b.Dense.Row(from+i)) {
						t.Errorf("row %d of [%d, %d): %v", i, from, to, part.Dense.Row(i))
					}
					if string(part.Labels[i])+string(part.Texts[i])+fmt.Sprint(part.Weights[i]) !=
						string(b.Labels[from+i])+string(b.Texts[from+i])+fmt.Sprint(b.Weights[from+i]) {
						t.Errorf("record %d of [%d, %d): %+v", i, from, to, part)
					}
				}
			}
		}
	}
	bare := (&Block{IDs: make([]Identity, 2)}).Slice(1, 2)
	if len(bare.IDs) != 1 || bare.Labels != nil || bare.Texts != nil || bare.Weights != nil || bare.Dense.Width != 0 ||
		bare.Sparse.Indptr != nil {
		t.Errorf("%+v", bare)
	}
}
