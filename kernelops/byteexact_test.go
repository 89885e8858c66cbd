package kernelops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExactBytes: of whole numbers, the distances of a tile are those of sqDist64, and once a list is full rows as far
// as its last one are no hits: they come after it. One row that is not whole makes the whole base an ordinary one.
func TestExactBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 0))
	for _, s := range withBytes() {
		x, y := NewMatrix(7, 20), NewMatrix(3000, 20)
		for _, m := range []Matrix{x, y} {
			for i := range m.Data {
				m.Data[i] = float32(r.IntN(2) * 255)
			}
		}
		for _, half := range []bool{false, true} {
			if half {
				y.Row(2999)[3] = 0.5 // not one of the sample
				x.Row(6)[3] = 1.5
			}
			compareByteSearches(t, fmt.Sprintf("exact bytes, %t", half), x, y, 5)
			var base byteBase
			var sc scratch
			if !base.pack(s, y, &Workspace{}) || base.exact == half {
				t.Fatalf("%s: exact: %t", s.Name, base.exact)
			}
			if half {
				continue
			}
			newQueries(s, 5, x, y, nil).throughBytes(s, &base, &sc)
			_, dists := bruteForce(x, y, 5)
			q := &sc.bytes
			for name, add := range map[string]float64{"as far as the last": 0, "nearer than the last": -1} {
				found := make([]int, x.Rows)
				q.relimit(func(i int) float64 { return dists[i*5+4] + add })
				q.scan(s.bytes.tile, 0, panelCount(y.Rows), func(i, row int, low, high float64) float64 {
					if d := sqDist64(x.Row(i), y.Row(row)); low != d || high != d {
						t.Errorf("%s: %g to %g is %g", s.Name, low, high, d)
					}
					found[i]++
					return dists[i*5+4] + add
				})
				for i := range found {
					want := 0
					for j := range y.Rows {
						if sqDist64(x.Row(i), y.Row(j)) <= dists[i*5+4]+add {
							want++
						}
					}
					if found[i] != want {
						t.Errorf("%s, %s: %d hits of query %d, want %d", s.Name, name, found[i], i, want)
					}
				}
			}
		}
	}
}

// TestKeptBases: a base that is kept is packed when as many queries were searched as that pays for, wherever its rows
// are, and gives the same neighbors before and after.
func TestKeptBases(t *testing.T) {
	r := rand.New(rand.NewPCG(78, 0))
	y := NewMatrix(12_000, 32)
	for i := range y.Data {
		y.Data[i] = float32(r.IntN(256))
	}
	moved := Matrix{Data: slices.Clone(y.Data), Rows: y.Rows, Cols: y.Cols, Stride: y.Stride}
	for _, s := range append(All(), withBytes()...) {
		var base Base
		var ws Workspace
		packed := 0
		for call := range 6 {
			const k, rows = 3, 150
			x := y.RowRange(call*300, call*300+rows)
			ids, dists := make([]int, k*rows), make([]float64, k*rows)
			base.Keep(s, []Matrix{y, moved}[call%2], x, &ws)
			base.Search(ids, dists, k, x, nil, &ws)
			if wantIDs, wantDists := bruteForce(x.RowRange(0, 2), y, k); !slices.Equal(ids[:2*k], wantIDs) ||
				!slices.Equal(dists[:2*k], wantDists) {
				t.Fatalf("%s, call %d: other neighbors", s.Name, call)
			}
			if base.packed {
				packed++
			}
		}
		if s.bytes == nil && packed > 0 || s.bytes != nil && (packed == 0 || packed == 6) {
			t.Errorf("%s: packed in %d of 6 calls", s.Name, packed)
		}
	}
}

// Whole numbers, but for one value of 2^-47 in a query: the center takes it away.
func TestTinyAmongWholeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	y, x := NewMatrix(2000, 16), NewMatrix(600, 16)
	for i := range y.Data {
		y.Data[i] = float32(r.IntN(16))
	}
	for i := range x.Data {
		x.Data[i] = float32(r.IntN(16))
	}
	for i := range x.Rows {
		x.Row(i)[0] = 0x1p-47
	}
	const k = 5
	ids, dists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
	want, wantDists := make([]int, x.Rows*k), make([]float64, x.Rows*k)
	Generic().Search(want, wantDists, k, x, y, &Workspace{})
	for _, s := range withBytes() {
		s.Search(ids, dists, k, x, y, &Workspace{})
		for i := range ids {
			if ids[i] != want[i] || dists[i] != wantDists[i] {
				t.Fatalf("%s: query %d, place %d: row %d (%v), want %d (%v)", s.Name, i/k, i%k, ids[i], dists[i],
					want[i], wantDists[i])
			}
		}
	}
}
