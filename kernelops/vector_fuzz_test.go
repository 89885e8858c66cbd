package kernelops

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzVectors compares every set with the generic one on bytes taken as float32: the first
// byte is the number of columns, the second the gap between rows; then come two factors, a row of
// columns for each of the operands, and rows for the rest.
func FuzzVectors(f *testing.F) {
	f.Add([]byte{3, 1})
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 {
			return
		}
		cols, gap := int(b[0]), int(b[1]%5)
		b = b[2:]
		next := func() float32 { // zeros when the bytes are used up
			if len(b) < 4 {
				return 0
			}
			v := math.Float32frombits(binary.LittleEndian.Uint32(b))
			b = b[4:]
			return v
		}
		o := &operands{f: next(), g: next(), y: make([]float32, cols), row: make([]float32, cols),
			sums: make([]float64, 6*cols)}
		fill(o.y, next)
		fill(o.row, next)
		rows := min(len(b)/4/(cols+1), 64)
		o.a, o.col, o.groups, o.far = make([]float32, rows), make([]float32, rows), make([]int32, rows),
			make([]float64, rows)
		fill(o.a, next)
		o.x = Matrix{Data: make([]float32, rows*(cols+gap)), Rows: rows, Cols: cols, Stride: cols + gap}
		for i := range rows {
			fill(o.x.Row(i), next)
			o.groups[i] = int32(i % 3)
		}
		for _, op := range vectorOps32 {
			want := o.results()
			op.run(Generic(), want)
			for _, s := range All()[1:] {
				got := o.results()
				op.run(s, got)
				where := s.Name + " " + op.name
				equalBits32(t, where, got.row, want.row)
				equalBits32(t, where, got.col, want.col)
				equalBits(t, where, got.sums, want.sums)
				equalBits(t, where, got.far, want.far)
			}
		}
		index := make([]int32, cols)
		for j := range index {
			index[j] = int32(math.Float32bits(o.y[j]) % uint32(cols))
		}
		mixed := mixedResults(Generic(), o.y, o.x, index, float64(o.f)/3)
		for _, s := range All()[1:] {
			equalBits(t, s.Name+" mixed", mixedResults(s, o.y, o.x, index, float64(o.f)/3), mixed)
		}
	})
}

// results returns o with memory of its own for what is written.
func (o *operands) results() *operands {
	c := *o
	c.row, c.col = append([]float32(nil), o.row...), append([]float32(nil), o.col...)
	c.sums, c.far = clone(o.sums), clone(o.far)
	return &c
}

// FuzzSparse compares with the loops of the doc comments. Each element is 10 bytes: column, value and
// the weight of the column of its number.
func FuzzSparse(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := min(len(b)/10, 1024)
		index, value, w := make([]int32, n), make([]float32, n), make([]float32, n)
		for p := range n {
			e := b[10*p:]
			index[p] = int32(binary.LittleEndian.Uint16(e)) % int32(n)
			value[p] = math.Float32frombits(binary.LittleEndian.Uint32(e[2:]))
			w[p] = math.Float32frombits(binary.LittleEndian.Uint32(e[6:]))
		}
		s := Best()
		equalBits32(t, "SparseDot", []float32{s.SparseDot(index, value, w)}, []float32{sparseDotLoop(index, value, w)})
		want := append([]float32(nil), w...)
		for p, j := range index {
			want[j] += float32(3 * value[p])
		}
		s.SparseAxpy(w, index, value, 3)
		equalBits32(t, "SparseAxpy", w, want)
	})
}
