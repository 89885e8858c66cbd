package rows

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// (1, 0), (0, 2) and (3, 4).
var (
	full = features.Vectors{Rows: 3, Dense: kernelops.Matrix{
		Data: []float32{1, 0, 0, 2, 3, 4}, Rows: 3, Cols: 2, Stride: 2}}
	spare = features.Vectors{Rows: 3, Sparse: dataset.Sparse{Width: 2, Indptr: []int{0, 1, 2, 4},
		Indices: []int32{0, 1, 0, 1}, Values: []float32{1, 2, 3, 4}}}
)

// table is the rows with their zeros.
func table(r *Rows) (values []float32) {
	var buf []float32
	for _, x := range r.Tiles(0, r.N, 2, &buf) {
		values = append(values, x.Data...)
	}
	return values
}

func TestRowsByHand(t *testing.T) {
	for form, v := range map[Form]features.Vectors{Dense: full, Sparse: spare} {
		r, rest := New(form, 2), New(form, 2)
		r.Add(v, 2, 3)
		rest.Add(v, 0, 2)
		none := Rows{}
		r.Append(&none)
		r.Append(&rest)
		if got := table(&r); !slices.Equal(got, []float32{3, 4, 1, 0, 0, 2}) || r.N != 3 {
			t.Errorf("form %d: %v", form, got)
		}
		none.Append(&r)
		if !slices.Equal(table(&none), table(&r)) {
			t.Errorf("form %d: no rows and others are %v", form, table(&none))
		}
		some := r.Pick([]int{1, 0})
		if got := table(&some); !slices.Equal(got, []float32{1, 0, 3, 4}) {
			t.Errorf("form %d: picked %v", form, got)
		}
		view := Of(v)
		if got := table(&view); !slices.Equal(got, full.Dense.Data) {
			t.Errorf("form %d: a view of %v", form, got)
		}
		r.Reset()
		if r.Add(v, 1, 2); !slices.Equal(table(&r), []float32{0, 2}) || r.N != 1 {
			t.Errorf("form %d: %v after a reset", form, table(&r))
		}
	}
}

// Memory is used again, and holds nothing of what it held before.
func TestChunksByHand(t *testing.T) {
	ids := []dataset.Identity{{Offset: 7}, {Offset: 8}, {Offset: 9}}
	for _, v := range []features.Vectors{full, spare} {
		v.IDs, v.Class, v.Weights = ids, []int32{2, 1, 0}, []float32{1, 2, 3}
		from, buf := 0, []float32{9, 9, 9, 9}
		err := Chunks(t.Context(), v, 2, &buf, func(c Chunk) error {
			n := min(2, 3-from)
			if c.X.Rows != n || len(c.Class) != n || c.IDs[0] != ids[from] || c.Weight(n-1) != float64(from+n) ||
				!slices.Equal(c.X.Data, full.Dense.Data[2*from:2*(from+n)]) {
				t.Errorf("from %d: %+v", from, c)
			}
			from += n
			return nil
		})
		v.Weights = nil
		if c := ChunkOf(v, 1, 2, &buf); err != nil || from != 3 || c.Weight(0) != 1 || c.Class[0] != 1 {
			t.Errorf("%d records, and %+v", from, c)
		}
	}
}

// A tile has as many rows as its memory allows, and one at least.
func TestTilesByHand(t *testing.T) {
	for _, c := range []struct{ width, most, rows int }{
		{1, 3, 3}, {TileFloats, 3, 1}, {TileFloats / 2, 3, 2}, {2 * TileFloats, 3, 1},
	} {
		r := Rows{N: 3, Width: c.width, Dense: make([]float32, 3*c.width)}
		for from, x := range r.Tiles(0, 3, c.most, nil) {
			if from != 0 || x.Rows != c.rows {
				t.Errorf("width %d: %d rows from %d, want %d", c.width, x.Rows, from, c.rows)
			}
			break
		}
	}
}

// A long tile takes up to an eighth more, where that leaves no short one.
func TestLongTilesByHand(t *testing.T) {
	for _, c := range []struct {
		rows, most int
		sizes      []int
	}{
		{8, 8, []int{8}}, {9, 8, []int{9}}, {10, 8, []int{8, 2}}, {17, 8, []int{8, 9}}, {18, 8, []int{8, 8, 2}},
		{3, 2, []int{2, 1}}, {0, 8, nil},
	} {
		r := Rows{N: c.rows, Width: 1, Dense: make([]float32, c.rows)}
		var sizes []int
		next := 0
		for from, x := range r.LongTiles(0, c.rows, c.most, nil) {
			if from != next {
				t.Errorf("%d rows by %d: a tile from %d, want %d", c.rows, c.most, from, next)
			}
			next += x.Rows
			sizes = append(sizes, x.Rows)
		}
		if !slices.Equal(sizes, c.sizes) {
			t.Errorf("%d rows by %d: tiles of %v, want %v", c.rows, c.most, sizes, c.sizes)
		}
	}
}

// stored are some rows of each form.
func stored() map[string]Rows {
	sparse := New(Sparse, 2)
	sparse.Add(spare, 0, 3)
	return map[string]Rows{
		"dense": {N: 3, Width: 2, Dense: full.Dense.Data}, "sparse": sparse,
		"bits":  {Form: Bits, N: 3, Width: 65, Words: 2, Bits: []uint64{1, 1, 2, 0, 3, 1}},
		"texts": {Form: Texts, N: 3, Texts: [][]rune{[]rune("a"), nil, []rune("bc")}},
	}
}

func read(a jobs.Arrays, like Rows) (*Rows, error) {
	r, err := jobs.Read(a, &Rows{N: like.N, Width: like.Width})
	if err == nil {
		err = r.Check(like.Form, like.Width)
	}
	return r, err
}

func TestRowsAreStored(t *testing.T) {
	for name, r := range stored() {
		got, err := read(jobs.ArraysOf(&r), r)
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(r) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, r)
		}
		for other, like := range stored() {
			if _, err := read(jobs.ArraysOf(&r), like); other != name && err == nil {
				t.Errorf("%s were read as %s", name, other)
			}
		}
	}
}

// Rows of any form are picked in an order, and so are those picked.
func TestRowsArePicked(t *testing.T) {
	for name, r := range stored() {
		turned := r.Pick([]int{2, 0, 1})
		again := turned.Pick([]int{1, 2, 0})
		if fmt.Sprint(again) != fmt.Sprint(r) || fmt.Sprint(turned) == fmt.Sprint(r) {
			t.Errorf("%s: %v, turned %v, and back %v", name, r, turned, again)
		}
		if one := r.Pick([]int{1}); one.N != 1 || one.Bytes() >= r.Bytes() {
			t.Errorf("%s: one row %v of %v", name, one, r)
		}
	}
}

func TestHostileRows(t *testing.T) {
	for name, c := range map[string]struct {
		rows  string
		spoil func(jobs.Arrays)
	}{
		"another width": {"dense", func(a jobs.Arrays) { jobs.Put(a, ArrayDense, make([]float32, 9), 3, 3) }},
		"fewer rows":    {"dense", func(a jobs.Arrays) { jobs.Put(a, ArrayDense, make([]float32, 4), 2, 2) }},
		"NaN": {"dense", func(a jobs.Arrays) {
			jobs.Put(a, ArrayDense, []float32{0, 0, 0, 0, 0, nan}, 3,
				2)
		}},
		"an infinite one":  {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayValues, []float32{1, 2, 3, inf}) }},
		"a column beyond":  {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndices, []int32{0, 1, 0, 2}) }},
		"a column below":   {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndices, []int32{-1, 1, 0, 1}) }},
		"a column twice":   {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndices, []int32{0, 1, 1, 1}) }},
		"rows that fall":   {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndptr, []int64{0, 2, 1, 4}) }},
		"rows too long":    {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndptr, []int64{0, 1, 2, 5}) }},
		"a late beginning": {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndptr, []int64{1, 1, 2, 4}) }},
		"no ends":          {"sparse", func(a jobs.Arrays) { jobs.Put(a, ArrayIndptr, []int64{}) }},
		"fewer words":      {"bits", func(a jobs.Arrays) { jobs.Put(a, ArrayBits, make([]uint64, 3), 3, 1) }},
		"fewer texts":      {"texts", func(a jobs.Arrays) { a.PutStrings(ArrayTexts, jobs.StringsOf("a")) }},
	} {
		r := stored()[c.rows]
		a := jobs.ArraysOf(&r)
		c.spoil(a)
		_, err := read(a, r)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

func TestBound(t *testing.T) {
	b := Bound{Most: 10, What: "they take", Hint: "Take fewer."}
	var fault *protocol.Fault
	if err := b.Check(11); !errors.As(err, &fault) || fault.Code != protocol.CodeStateTooBig {
		t.Error(err)
	}
	if err := errors.Join(b.Check(10), Bound{}.Check(math.MaxInt64)); err != nil {
		t.Error(err)
	}
}
