package inverted

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// (1, 0, 2, 0), no entries, (0, 0, -2, 3) and (0, 5, 0, 0).
func few() *rows.Rows {
	return &rows.Rows{Form: rows.Sparse, N: 4, Width: 4, Sparse: dataset.Sparse{Width: 4,
		Indptr: []int{0, 2, 2, 4, 5}, Indices: []int32{0, 2, 2, 3, 1}, Values: []float32{1, 2, -2, 3, 5}}}
}

// The query (3, 0, 2, 1) shares two columns with the first row and the third, none with the others.
func TestBlockByHand(t *testing.T) {
	var b Block
	indices, values := []int32{0, 2, 3}, []float32{3, 2, 1}
	b.Build(few(), 1, 4) // is forgotten
	b.Build(few(), 0, 4)
	for name, c := range map[string]struct {
		sum  func(*Sums)
		want [2]float64
	}{
		"dots":     {func(s *Sums) { b.Dots(s, indices, values, kernelops.Generic()) }, [2]float64{7, -1}},
		"common":   {func(s *Sums) { b.Common(s, indices, values) }, [2]float64{2 + 4, 0 + 2}},
		"farthest": {func(s *Sums) { b.Farthest(s, indices, values) }, [2]float64{2, 4}},
		"shared":   {func(s *Sums) { b.Shared(s, indices) }, [2]float64{2, 2}},
	} {
		var sums Sums
		c.sum(&sums)
		if sums[0] != c.want[0] || sums[2] != c.want[1] || !Apart(sums[1]) || !Apart(sums[3]) {
			t.Errorf("%s: %v", name, sums[:4])
		}
	}
	if b.Entries(2) != 2 || b.Entries(1) != 1 || b.N != 4 {
		t.Errorf("%d and %d entries of %d rows", b.Entries(2), b.Entries(1), b.N)
	}
	if b.Build(few(), 1, 2); b.Entries(2) != 0 {
		t.Error("a row without entries has some")
	}
}

// A sum that is 0 is not that of a row which shares nothing; a product of denormal numbers is no 0.
func TestApart(t *testing.T) {
	r := &rows.Rows{Form: rows.Sparse, N: 2, Width: 2, Sparse: dataset.Sparse{Width: 2, Indptr: []int{0, 2, 3},
		Indices: []int32{0, 1, 0}, Values: []float32{1, -1, -1e-45}}}
	var b Block
	b.Build(r, 0, 2)
	var sums Sums
	b.Dots(&sums, []int32{0, 1}, []float32{1, 1}, kernelops.Generic())
	if sums[0] != 0 || Apart(sums[0]) {
		t.Errorf("1 - 1 is %v", sums[0])
	}
	b.Dots(&sums, []int32{0}, []float32{1e-45}, kernelops.Generic())
	if sums[1] >= 0 || sums[1] != -math.Ldexp(1, -298) {
		t.Errorf("a product of denormal numbers is %v", sums[1])
	}
}

// Rows as sets are those of the columns in which they are not 0, sparse, dense or bits.
func TestSets(t *testing.T) {
	sparse := few()
	sparse.Sparse.Values[0] = 0
	dense := &rows.Rows{N: 4, Width: 4, Dense: []float32{0, 0, 2, 0, 0, 0, 0, 0, 0, 0, -2, 3, 0, 5, 0, 0}}
	bits := &rows.Rows{Form: rows.Bits, N: 4, Width: 4, Words: 1, Bits: []uint64{4, 0, 12, 2}}
	for _, r := range []*rows.Rows{sparse, dense, bits} {
		if got := Columns(r, 2, nil); !slices.Equal(got, []int32{2, 3}) {
			t.Errorf("form %d: columns %v", r.Form, got)
		}
		var b Block
		var sums Sums
		b.BuildSets(r, 0, 4)
		b.Shared(&sums, []int32{0, 2, 3})
		if sums[0] != 1 || sums[2] != 2 || !Apart(sums[1]) || !Apart(sums[3]) {
			t.Errorf("form %d: shared %v", r.Form, sums[:4])
		}
	}
}

// Sums over whole numbers are those of the rows with their zeros.
func TestSumsAreThoseOfDenseRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, width := rapid.IntRange(1, 20).Draw(rt, "rows"), rapid.IntRange(1, 12).Draw(rt, "width")
		draw := func() []float32 {
			return rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 0, 1, -2, 3}), width, width).Draw(rt, "row")
		}
		r := rows.New(rows.Sparse, width)
		var full [][]float32
		for range n {
			full = append(full, draw())
			add(&r, full[len(full)-1])
		}
		query := rows.New(rows.Sparse, width)
		x := draw()
		add(&query, x)
		from := rapid.IntRange(0, n).Draw(rt, "from")
		var b Block
		b.Build(&r, from, n)
		var dots, common Sums
		indices, values := query.Row(0)
		b.Dots(&dots, indices, values, kernelops.Best())
		b.Common(&common, indices, values)
		for i, y := range full[from:] {
			dot, both := 0.0, 0.0
			for j := range x {
				dot += float64(x[j]) * float64(y[j])
				both += math.Abs(float64(x[j])) + math.Abs(float64(y[j])) - math.Abs(float64(x[j]-y[j]))
			}
			if dots[i] != dot || common[i] != both {
				rt.Fatalf("row %v of query %v: %v and %v", y, x, dots[i], common[i])
			}
		}
	})
}

// Full columns give the same sums as lists, to the bit of the rows that share nothing. Of 64 rows and 6 columns, those
// that 8 rows have are full.
func TestFullColumnsAreThoseOfLists(t *testing.T) {
	value := rapid.SampledFrom([]float32{0, 0, 0, 0, 0, 0, 1, -2, 0.1, 1e-45, float32(math.Copysign(0, -1))})
	rapid.Check(t, func(rt *rapid.T) {
		r := rows.New(rows.Sparse, 6)
		for range 64 {
			add(&r, rapid.SliceOfN(value, 6, 6).Draw(rt, "row"))
		}
		var b Block
		b.Build(&r, 0, 64)
		indices, values := []int32{0, 1, 2, 3, 4, 5}, rapid.SliceOfN(value, 6, 6).Draw(rt, "query")
		var got, generic, want Sums
		b.Dots(&got, indices, values, kernelops.Best())
		b.Dots(&generic, indices, values, kernelops.Generic())
		for j := range int32(6) {
			column := b.full.column(b.slot[j], b.N)
			if n := b.Entries(j); (n >= 8) != (column != nil) {
				rt.Fatalf("a column of %d entries: %v", n, column)
			}
		}
		b.full.forget()
		b.Dots(&want, indices, values, kernelops.Best())
		for i := range 64 {
			if w := math.Float64bits(want[i]); math.Float64bits(got[i]) != w || math.Float64bits(generic[i]) != w {
				rt.Fatalf("row %d: %v and %v, by lists %v", i, got[i], generic[i], want[i])
			}
		}
	})
}

// add puts a row without its zeros below the rows.
func add(r *rows.Rows, row []float32) {
	one := rows.New(rows.Sparse, len(row))
	for j, v := range row {
		if v != 0 {
			one.Sparse.Indices, one.Sparse.Values = append(one.Sparse.Indices, int32(j)), append(one.Sparse.Values, v)
		}
	}
	one.Sparse.Indptr, one.N = append(one.Sparse.Indptr, len(one.Sparse.Values)), 1
	r.Append(&one)
}
