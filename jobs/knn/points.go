package knn

import (
	"github.com/gram-compute/gram/kernelops"
)

// points are rows in memory, in the order of their records: dense, sparse, bits or texts.
type points struct {
	rows   int
	width  int
	dense  []float32 // rows x width
	sparse csr
	bits   []uint64 // rows x words
	words  int
	texts  [][]rune

	ids    []int64   // numbers of the records in their data set
	target []float64 // class or value; nil in a plain search
}

// csr holds sparse rows.
type csr struct {
	indptr  []int // nil where the rows are not sparse
	indices []int32
	values  []float32
}

// tileFloats bounds a tile of rows, in float32.
const tileFloats = 4 << 20

// tileRows is how many rows of a width a tile has, at most most.
func tileRows(width, most int) int { return max(1, min(most, tileFloats/max(1, width))) }

// tile returns rows from up to, not including, to as a matrix; sparse ones are spread out in buf,
// where they stay until the next call with it.
func (p *points) tile(from, to int, buf *[]float32) kernelops.Matrix {
	if p.sparse.indptr == nil {
		return kernelops.Matrix{Data: p.dense[from*p.width : to*p.width], Rows: to - from, Cols: p.width, Stride: p.width}
	}
	n := (to - from) * p.width
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	m := kernelops.Matrix{Data: (*buf)[:n], Rows: to - from, Cols: p.width, Stride: p.width}
	clear(m.Data)
	for i := from; i < to; i++ {
		row := m.Row(i - from)
		for e := p.sparse.indptr[i]; e < p.sparse.indptr[i+1]; e++ {
			row[p.sparse.indices[e]] = p.sparse.values[e]
		}
	}
	return m
}

// targetOf is the target of row i, 0 where there are none.
func (p *points) targetOf(i int) float64 {
	if p.target == nil {
		return 0
	}
	return p.target[i]
}

// weight is roughly how much memory the rows take, in units of 4 bytes.
func (p *points) weight() int {
	return len(p.dense) + 2*len(p.sparse.values) + 2*len(p.bits) + p.runes()
}

func (p *points) runes() int {
	n := 0
	for _, t := range p.texts {
		n += len(t) + 8
	}
	return n
}

// reset forgets the rows and keeps their memory.
func (p *points) reset() {
	sparse := p.sparse
	if sparse.indptr != nil {
		sparse = csr{sparse.indptr[:1], sparse.indices[:0], sparse.values[:0]}
	}
	*p = points{width: p.width, words: p.words, dense: p.dense[:0], sparse: sparse, bits: p.bits[:0],
		texts: p.texts[:0], ids: p.ids[:0], target: p.target[:0]}
}
