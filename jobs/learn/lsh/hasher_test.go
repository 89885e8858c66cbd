package lsh

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// cloud is n rows of normal numbers, some of them 0, dense and sparse.
func cloud(n, width int) (dense, sparse rows.Rows) {
	dense, sparse = rows.New(rows.Dense, width), rows.New(rows.Sparse, width)
	dense.N, sparse.N, dense.Dense = n, n, make([]float32, n*width)
	for i := range n {
		row := dense.Dense[i*width : (i+1)*width]
		draw(Normal, row, philox.New(5, "cloud"), uint64(i))
		for j := range row {
			if (i+j)%3 == 0 {
				row[j] = 0
				continue
			}
			sparse.Sparse.Indices = append(sparse.Sparse.Indices, int32(j))
			sparse.Sparse.Values = append(sparse.Sparse.Values, row[j])
		}
		sparse.Sparse.Indptr = append(sparse.Sparse.Indptr, len(sparse.Sparse.Values))
	}
	return dense, sparse
}

func keysOf(h *Hasher, ops *kernelops.Set, r *rows.Rows, step int) []uint64 {
	keys := make([]uint64, r.N*h.curve.Tables)
	for from := 0; from < r.N; from += step {
		to := min(r.N, from+step)
		h.Keys(ops, keys[from*h.curve.Tables:to*h.curve.Tables], r, from, to)
	}
	return keys
}

// plainKeys is the definition: the chain of each function, its bucket or side.
func plainKeys(c Curve, r *rows.Rows, seed uint64) (keys []uint64) {
	for i := range r.N {
		_, x := r.Row(i)
		for t := range c.Tables {
			key := uint64(0)
			for s := range c.Hashes {
				f := uint64(t*c.Hashes + s)
				random := make([]float32, c.Columns)
				draw(c.Family, random, philox.New(seed, "lsh/rows"), f)
				v := 0.0
				for j := range x {
					v = math.FMA(float64(x[j]), float64(random[j]), v)
				}
				if c.Family == Hyperplanes {
					if v >= 0 {
						key |= 1 << s
					}
					continue
				}
				b := float64(c.Width * philox.New(seed, "lsh/offsets").Float64(f, 0))
				key = scramble(key ^ uint64(int64(math.Floor((v+b)/c.Width))))
			}
			keys = append(keys, key)
		}
	}
	return keys
}

// Every kernel set, every cut, dense or sparse: the keys of the definition.
func TestKeysAreThoseOfTheDefinition(t *testing.T) {
	dense, sparse := cloud(37, 70)
	for _, family := range []Family{Normal, Cauchy, Hyperplanes} {
		c := Curve{Family: family, Width: 2.5, Tables: 5, Hashes: 3, Columns: 70}
		want := plainKeys(c, &dense, 9)
		for _, ops := range kernelops.All() {
			for _, step := range []int{1, 7, 64} {
				if !slices.Equal(keysOf(NewHasher(c, rows.Dense, 9), ops, &dense, step), want) {
					t.Errorf("family %d, %s, %d rows at a time: other keys", family, ops.Name, step)
				}
			}
			if !slices.Equal(keysOf(NewHasher(c, rows.Sparse, 9), ops, &sparse, 8), want) {
				t.Errorf("family %d, %s: other keys of sparse rows", family, ops.Name)
			}
		}
		if slices.Equal(plainKeys(c, &dense, 10), want) {
			t.Errorf("family %d: the same keys by another seed", family)
		}
	}
}

func TestKeysOfBits(t *testing.T) {
	r := rows.Rows{Form: rows.Bits, N: 2, Width: 70, Words: 2, Bits: []uint64{1 << 3, 1 << 5, 0, 1 << 5}}
	h := &Hasher{curve: Curve{Family: Bits, Tables: 2, Hashes: 2, Columns: 70}, columns: []int32{3, 69, 4, 69}}
	if keys := keysOf(h, nil, &r, 1); !slices.Equal(keys, []uint64{3, 2, 2, 2}) {
		t.Error(keys)
	}
	h = NewHasher(Curve{Family: Bits, Tables: 1000, Hashes: 1, Columns: 70}, rows.Bits, 1)
	if slices.Max(h.columns) != 69 || slices.Min(h.columns) != 0 {
		t.Error("columns", h.columns)
	}
}

// Numbers of buckets beyond int64 are cut, and share keys.
func TestFarBuckets(t *testing.T) {
	r := rows.Rows{N: 3, Width: 1, Dense: []float32{math.MaxFloat32, math.MaxFloat32 / 2, -math.MaxFloat32}}
	c := Curve{Family: Normal, Width: minWidth, Tables: 1, Hashes: 1, Columns: 1}
	keys := keysOf(NewHasher(c, rows.Dense, 1), kernelops.Best(), &r, 3)
	if keys[0] != keys[1] || keys[0] == keys[2] {
		t.Error(keys)
	}
}

// The share of functions on which two rows agree is what Agree says, to five deviations.
func TestFunctionsAgreeAsOften(t *testing.T) {
	const functions = 30_000
	r := rows.Rows{N: 2, Width: 4, Dense: []float32{1, 2, -1, 0.5, 1.5, 1, -1, 1}}
	bits := rows.Rows{Form: rows.Bits, N: 2, Width: 10, Words: 1, Bits: []uint64{7, 1}}
	dot, x, y := 1*1.5+2*1+1+0.5, 1+4+1+0.25, 2.25+1+1+1
	for _, c := range []struct {
		family   Family
		distance float64
		of       *rows.Rows
	}{{Normal, math.Sqrt(0.25 + 1 + 0.25), &r}, {Cauchy, 2, &r}, {Hyperplanes, 1 - dot/math.Sqrt(x*y), &r},
		{Bits, 2, &bits}} {
		curve := Curve{Family: c.family, Width: 1.7, Tables: functions, Hashes: 1, Columns: c.of.Width}
		keys := keysOf(NewHasher(curve, c.of.Form, 3), kernelops.Best(), c.of, 2)
		agree := 0.0
		for t := range functions {
			if keys[t] == keys[functions+t] {
				agree++
			}
		}
		p := curve.Agree(c.distance)
		near(t, "functions that agree", agree/functions, p, 5*math.Sqrt(p*(1-p)/functions))
	}
}

func TestTooManyNumbers(t *testing.T) {
	c := Curve{Family: Normal, Tables: 1024, Hashes: 64, Columns: 129}
	var fault *protocol.Fault
	if err := c.CheckSize(); !errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit {
		t.Error(err)
	}
	c.Columns = 128
	if err := c.CheckSize(); err != nil {
		t.Error(err)
	}
	c.Family, c.Columns = Bits, 1<<22
	if err := c.CheckSize(); err != nil {
		t.Error(err)
	}
}

// Rows that collide are those of which any key is the same.
func TestTables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tables, n := rapid.IntRange(1, 4).Draw(rt, "tables"), rapid.IntRange(0, 20).Draw(rt, "rows")
		key := rapid.SampledFrom([]uint64{0, 1, 2, 1 << 63, math.MaxUint64})
		draw := func() []uint64 { return rapid.SliceOfN(key, tables, tables).Draw(rt, "keys") }
		var all [][]uint64
		var h Tables
		h.Begin(tables, 30)
		h.Enter(0, draw()) // is forgotten
		h.Begin(tables, n)
		for i := range n {
			all = append(all, draw())
			h.Enter(i, all[i])
		}
		for range 3 {
			query := draw()
			var want []int32
			for i, keys := range all {
				for t, key := range keys {
					if key == query[t] {
						want = append(want, int32(i))
						break
					}
				}
			}
			got := slices.Clone(h.Colliding(query))
			if slices.Sort(got); !slices.Equal(got, want) {
				rt.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

// The number of calls comes around after 2^32.
func TestTablesAfterManyCalls(t *testing.T) {
	var h Tables
	h.Begin(2, 1)
	h.Enter(0, []uint64{1, 2})
	h.Colliding([]uint64{1, 2})
	for h.call = math.MaxUint32 - 1; h.call != 2; {
		if got := h.Colliding([]uint64{1, 2}); len(got) != 1 {
			t.Errorf("call %d: %v", h.call, got)
		}
	}
}
