package shuffle

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
)

// TestSorter holds the order to that of a sort by (draw, index), with draws that are all equal, few, and random.
func TestSorter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s sorter
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 5000, 100} {
		for name, next := range map[string]func() uint64{
			"random": r.Uint64, "equal": func() uint64 { return 5 }, "few": func() uint64 { return r.Uint64N(3) << 62 },
			"low":  func() uint64 { return r.Uint64N(50) },
			"last": func() uint64 { return ^uint64(0) - r.Uint64N(2) },
		} {
			draws, want := make([]uint64, n), make([]int32, n)
			for i := range draws {
				draws[i], want[i] = next(), int32(i)
			}
			// total order: indices differ
			slices.SortFunc(want, func(a, b int32) int {
				return cmp.Or(cmp.Compare(draws[a], draws[b]),
					cmp.Compare(a, b))
			})
			if got := s.sort(draws); !slices.Equal(got, want) {
				t.Errorf("%d draws, %s: order %v, want %v", n, name, got, want)
			}
		}
	}
}

// TestWindow fills windows with records of known size, and holds their order to the draws and their bounds to
// Numbers.
func TestWindow(t *testing.T) {
	// a window is 301 records: 300 of them fall short by what division drops
	const records, numbers = 1000, Numbers/300 - Each
	key := philox.New(3, "test")
	var got [][]int
	w := New(key, 64, func(batch []int) error {
		got = append(got, slices.Clone(batch))
		return nil
	})
	var all []int
	for i := range records {
		full, err := w.Add(dataset.ByPlace("a", int64(i)), int64(7+i), numbers, i)
		if err != nil || full != (i%301 == 300) {
			t.Fatalf("record %d: full %t, error %v", i, full, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	draw := func(i int) uint64 { return key.Uint64(uint64(7+i), 0) }
	for begin := 0; begin < records; begin += 301 {
		window := make([]int, 0, 301)
		for i := begin; i < min(begin+301, records); i++ {
			window = append(window, i)
		}
		// total order: draws of different records are taken to differ
		slices.SortFunc(window, func(a, b int) int { return cmp.Compare(draw(a), draw(b)) })
		all = append(all, window...)
	}
	if visited := slices.Concat(got...); !slices.Equal(visited, all) {
		t.Errorf("visited %v\nwant %v", visited, all)
	}
	if len(got[0]) != 64 || len(got[4]) != 301-4*64 || len(got) != 3*5+2 {
		t.Errorf("%d batches, the first of %d, the fifth of %d", len(got), len(got[0]), len(got[4]))
	}
}

// TestIdsDecide shuffles records by their ids where they have some, whatever their ordinals are.
func TestIdsDecide(t *testing.T) {
	var orders [2][]int
	for at, first := range []int64{0, 1000} {
		w := New(philox.New(3, "test"), 8, func(batch []int) error {
			orders[at] = append(orders[at], batch...)
			return nil
		})
		for i := range 100 {
			if _, err := w.Add(dataset.ByID(strconv.Itoa(i)), first+int64(i), 1, i); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
		t.Errorf("by ids %v and %v", orders[0], orders[1])
	}
}

// TestWindowStops passes the error of a visit on.
func TestWindowStops(t *testing.T) {
	enough := errors.New("enough")
	w := New(philox.New(1, "test"), 2, func([]string) error { return enough })
	for i := range 3 {
		if _, err := w.Add(dataset.ByRow(3), int64(i), 1, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
	if _, err := w.Add(dataset.ByRow(0), 0, Numbers, "x"); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

// TestStore keeps copies apart while it grows and after it was emptied, and what is appended to one from the next.
func TestStore(t *testing.T) {
	var s Store[int32]
	for range 3 {
		var copies [][]int32
		for n := range int32(2000) {
			x := make([]int32, n)
			for i := range x {
				x[i] = n
			}
			copies = append(copies, s.Copy(x))
		}
		copies = append(copies, s.Copy(make([]int32, storePart+1)))
		_ = append(copies[5], 7)
		for n, c := range copies[:2000] {
			if len(c) != n || slices.ContainsFunc(c, func(v int32) bool { return v != int32(n) }) {
				t.Fatalf("copy %d is %v", n, c)
			}
		}
		if len(s.parts) != 9 {
			t.Errorf("%d parts", len(s.parts))
		}
		s.Empty()
	}
}

// A window is estimated as a full one, or as all shards; not at all without a shuffle.
func TestGathers(t *testing.T) {
	leaf := jobs.Leaf{Index: 9, Plan: jobs.Plan{Shards: 3, Blocks: 10}}
	for size, want := range map[int64]int64{0: 0, 10: 90, Bytes / 9: Bytes / 9 * 9, Bytes: Bytes} {
		records := func(from jobs.Source, shard int) int64 {
			if from != jobs.Input || shard >= 3 {
				t.Errorf("asked for shard %d of %v", shard, from)
			}
			return size
		}
		if got := Gathers(true)(leaf, records); got != want {
			t.Errorf("shards of %d bytes: %d, want %d", size, got, want)
		}
		if got := Gathers(false)(leaf, records); got != 0 {
			t.Errorf("%d without a shuffle", got)
		}
	}
}
