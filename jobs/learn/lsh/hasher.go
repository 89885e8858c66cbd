package lsh

import (
	"math"

	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// MaxNumbers bounds the random numbers of all functions: 32 MiB of float32.
const MaxNumbers = 1 << 23

// What the random numbers are for.
const (
	rowPurpose    = "lsh/rows"
	offsetPurpose = "lsh/offsets"
	columnPurpose = "lsh/columns"
)

// Hasher gives rows their keys. It keeps memory between calls: one goroutine.
type Hasher struct {
	curve   Curve
	random  kernelops.Matrix // [functions, columns]; of sparse rows transposed
	offsets []float64        // of each function, in [0, width)
	columns []int32          // of each function, of Bits

	space    kernelops.ProductSpace
	products []float64
}

// CheckSize refuses functions of more than MaxNumbers random numbers.
func (c Curve) CheckSize() error {
	if c.Family == Bits || int64(c.Functions())*int64(c.Columns) <= MaxNumbers {
		return nil
	}
	return protocol.InputFault(protocol.CodeInputLimit,
		"%d tables of %d hashes have a random number for each of %d columns: %d in all, at most %d", c.Tables, c.Hashes,
		c.Columns, int64(c.Functions())*int64(c.Columns), MaxNumbers).
		WithHint("Lower params.lsh.tables or params.lsh.hashes.")
}

// Check refuses a curve that no Params and no Choose give.
func (c Curve) Check() error {
	widthFits := c.Width == 0
	if c.Family.Wide() {
		widthFits = c.Width >= minWidth && c.Width <= maxWidth
	}
	if c.Tables < 1 || c.Tables > MaxTables || c.Hashes < 1 || c.Hashes > MaxHashes || c.Columns < 1 || !widthFits {
		return protocol.SpecFault("hash tables are out of range: %d tables (1 to %d), %d hashes (1 to %d), width %v, "+
			"%d columns", c.Tables, MaxTables, c.Hashes, MaxHashes, c.Width, c.Columns)
	}
	return c.CheckSize()
}

// NewHasher draws the functions of a curve, for rows of a form: linear in functions times columns, at some 50 ns each.
func NewHasher(c Curve, form rows.Form, seed uint64) *Hasher {
	h := &Hasher{curve: c}
	if c.Family == Bits {
		key := philox.New(seed, columnPurpose)
		for f := range uint64(c.Functions()) {
			h.columns = append(h.columns, int32(key.Uint64(f, 0)%uint64(c.Columns)))
		}
		return h
	}
	key := philox.New(seed, rowPurpose)
	if form == rows.Sparse {
		h.random = kernelops.NewMatrix(c.Columns, c.Functions())
		row := make([]float32, c.Columns)
		for f := range c.Functions() {
			draw(c.Family, row, key, uint64(f))
			for j, v := range row {
				h.random.Row(j)[f] = v
			}
		}
	} else {
		h.random = kernelops.NewMatrix(c.Functions(), c.Columns)
		for f := range c.Functions() {
			draw(c.Family, h.random.Row(f), key, uint64(f))
		}
	}
	if c.Family.Wide() {
		key := philox.New(seed, offsetPurpose)
		for f := range uint64(c.Functions()) {
			h.offsets = append(h.offsets, float64(c.Width*key.Float64(f, 0)))
		}
	}
	return h
}

// draw sets row to the numbers of function f: normal ones by the method of Box and Muller, two from each block, or
// those of Cauchy as the tangent of a uniform angle.
func draw(family Family, row []float32, key philox.Key, f uint64) {
	if family == Cauchy {
		for j := range row {
			// of an odd multiple of 2^-53, for which neither sine nor cosine is 0
			u := float64((float64(key.Uint64(f, uint64(j))>>12) + 0.5) * 0x1p-52)
			sin, cos := fmath.Sincospi(u)
			row[j] = float32(-cos / sin)
		}
		return
	}
	for j := 0; j < len(row); j += 2 {
		a, b := key.Block(f, uint64(j/2))
		u, v := float64(float64(a>>11+1)*0x1p-53), float64(float64(b>>11)*0x1p-53)
		sin, cos := fmath.Sincospi(float64(2 * v))
		r := math.Sqrt(float64(-2 * fmath.Log(u)))
		row[j] = float32(r * cos)
		if j+1 < len(row) {
			row[j+1] = float32(r * sin)
		}
	}
}

// productBytes is about what the products of the rows of one call take.
const productBytes = 2 << 20

// RowsOfCall is how many rows to give to a call of Keys.
func (h *Hasher) RowsOfCall() int {
	return min(1024, max(1, productBytes/8/max(1, h.curve.Functions(), h.curve.Columns)))
}

// Keys sets dst[i*Tables+t] to the key of row from+i in table t, for the rows up to, not including, to. It takes time
// linear in functions times columns, or the entries of sparse rows.
func (h *Hasher) Keys(ops *kernelops.Set, dst []uint64, r *rows.Rows, from, to int) {
	c := h.curve
	if c.Family == Bits {
		for i := from; i < to; i++ {
			h.bitKeys(dst[(i-from)*c.Tables:][:c.Tables], r.Bits[i*r.Words:(i+1)*r.Words])
		}
		return
	}
	functions := c.Functions()
	h.products = kernelops.Resize(h.products, (to-from)*functions)
	if r.Form == rows.Sparse {
		for i := from; i < to; i++ {
			h.sparse(h.products[(i-from)*functions:][:functions], r, i)
		}
	} else {
		ops.Mixed.Products(h.products, r.Tile(from, to, nil), h.random, nil, &h.space)
	}
	for t := range (to - from) * c.Tables {
		first := t % c.Tables * c.Hashes
		dst[t] = h.key(h.products[t*c.Hashes:][:c.Hashes], first)
	}
}

// bitKeys has bit s of key t from the column of function s of table t.
func (h *Hasher) bitKeys(dst, row []uint64) {
	for t := range dst {
		key := uint64(0)
		for s, j := range h.columns[t*h.curve.Hashes:][:h.curve.Hashes] {
			key |= row[j/64] >> (j % 64) & 1 << s
		}
		dst[t] = key
	}
}

// sparse sets dst to the chains of Mixed.Products of row i, in which zeros change nothing.
func (h *Hasher) sparse(dst []float64, r *rows.Rows, i int) {
	clear(dst)
	indices, values := r.Sparse.Row(i)
	for e, j := range indices {
		x := float64(values[e])
		for f, v := range h.random.Row(int(j)) {
			dst[f] = math.FMA(x, float64(v), dst[f])
		}
	}
}

// farthest cuts the number of a bucket, which int64 has to hold.
const farthest = 1 << 62

// key is the key of the products of a table, whose first function is number first.
func (h *Hasher) key(products []float64, first int) (key uint64) {
	if !h.curve.Family.Wide() {
		for s, v := range products {
			if v >= 0 {
				key |= 1 << s
			}
		}
		return key
	}
	for s, v := range products {
		bucket := math.Floor((v + h.offsets[first+s]) / h.curve.Width)
		bucket = max(-farthest, min(farthest, bucket))
		key = scramble(key ^ uint64(int64(bucket))) //lint:checked cut to ±2^62
	}
	return key
}

// scramble is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection. The keys of two lists of
// buckets are one with probability 2^-64 or so, which makes a candidate more.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
