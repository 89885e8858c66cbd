package ranks

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// search runs all passes, over the rows in some parts.
func search(t rapid.TB, rows [][]float32, ranks []int64, cut int) *Search {
	s := New(len(rows[0]), ranks)
	for !s.Done() {
		left, right := s.NewCounts(), s.NewCounts()
		for i, row := range rows {
			if i < cut {
				s.Add(left, row)
			} else {
				s.Add(right, row)
			}
		}
		all, err := left.Plus(right)
		if err != nil {
			t.Fatal(err)
		}
		if all, err = jobs.Read(jobs.ArraysOf(all), &Counts{}); err != nil {
			t.Fatal(err)
		}
		if s, err = s.Narrow(all); err != nil {
			t.Fatal(err)
		}
		if s, err = jobs.Read(jobs.ArraysOf(s), &Search{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Of 3, -1, 2, -1 the least is -1, as the second is; the third is 2.
func TestRanksByHand(t *testing.T) {
	rows := [][]float32{{3, 0}, {-1, float32(math.Copysign(0, -1))}, {2, 1e-45}, {-1, -1e-45}}
	s := search(t, rows, []int64{0, 1, 2, 3}, 2)
	for rank, want := range [][]float32{{-1, -1e-45}, {-1, 0}, {2, 0}, {3, 1e-45}} {
		if got := []float32{s.At(rank, 0), s.At(rank, 1)}; !slices.Equal(got, want) {
			t.Errorf("rank %d: %v, not %v", rank, got, want)
		}
	}
}

// The numbers are those of a sorted column, with ties, huge, small and denormal ones.
func TestRanksOfSortedColumns(t *testing.T) {
	value := rapid.OneOf(rapid.Float32Range(-2, 2),
		rapid.SampledFrom([]float32{0, 1, 1, -1, 1e-45, -1e-40, 3e38, -3e38}),
		rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32))
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(t, "width")
		rows := rapid.SliceOfN(rapid.SliceOfN(value, width, width), 1, 40).Draw(t, "rows")
		ranks := rapid.SliceOfN(rapid.Int64Range(0, int64(len(rows)-1)), 1, 6).Draw(t, "ranks")
		s := search(t, rows, ranks, rapid.IntRange(0, len(rows)).Draw(t, "cut"))
		for j := range width {
			var column []float32
			for _, row := range rows {
				column = append(column, row[j])
			}
			slices.Sort(column)
			for r, rank := range ranks {
				if got := s.At(r, j); got != column[rank] {
					t.Fatalf("column %d, rank %d: %v, not %v", j, rank, got, column[rank])
				}
			}
		}
	})
}

func TestHostileRanks(t *testing.T) {
	s := New(2, []int64{0, 5})
	c := s.NewCounts()
	s.Add(c, []float32{1, 2})
	var fault *protocol.Fault
	if _, err := s.Narrow(c); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("one row has no sixth: %v", err)
	}
	if _, err := s.Narrow(New(1, []int64{0}).NewCounts()); err == nil {
		t.Error("counts of another search")
	}
	if _, err := c.Plus(New(1, []int64{0}).NewCounts()); err == nil {
		t.Error("counts of two searches")
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"short prefix": func(a jobs.Arrays) { jobs.Put(a, "ranks.prefix", []uint32{1}) },
		"pass 5":       func(a jobs.Arrays) { jobs.PutScalar(a, "ranks.pass", int32(5)) },
		"width 0":      func(a jobs.Arrays) { jobs.PutScalar(a, "ranks.width", int64(0)) },
	} {
		a := jobs.ArraysOf(s)
		spoil(a)
		if _, err := jobs.Read(a, &Search{}); err == nil {
			t.Error(name)
		}
	}
	if _, err := jobs.Read(jobs.Arrays{}, &Counts{}); err == nil {
		t.Error("no counts")
	}
}
