package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// groupRows is the number of rows that one pointer reaches through multiples of the stride.
const groupRows = 7

// rowPointers reaches the same column of several rows with few registers: a pointer for
// each group of rows, and 1, 3 and 5 strides, which addressing may scale.
type rowPointers struct {
	rows    int
	first   Register   // row 0, column 0 of the tile
	at      []Register // the column reached, a pointer per group
	strides map[int]Register
}

// loadRowPointers takes the parameters x and xStride (in elements).
func loadRowPointers(rows int) rowPointers {
	r := rowPointers{rows: rows, first: Load(Param("x"), GP64()), strides: map[int]Register{}}
	one := Load(Param("xStride"), GP64())
	SHLQ(Imm(2), one)
	r.strides[1] = one
	for _, n := range []int{3, 5} {
		if rows > n {
			r.strides[n] = GP64()
			LEAQ(Mem{Base: one, Index: one, Scale: uint8(n - 1)}, r.strides[n])
		}
	}
	for g := 0; g < rows; g += groupRows {
		r.at = append(r.at, GP64())
	}
	return r
}

// begin goes to column 0.
func (r rowPointers) begin() {
	MOVQ(r.first, r.at[0])
	for g := 1; g < len(r.at); g++ {
		LEAQ(Mem{Base: r.at[g-1], Index: r.strides[1], Scale: 2}, r.at[g])
		ADDQ(r.strides[5], r.at[g])
	}
}

// element is the memory of row i, disp bytes beyond the column reached.
func (r rowPointers) element(i, disp int) Mem {
	m := Mem{Base: r.at[i/groupRows], Disp: disp}
	switch n := i % groupRows; n {
	case 0:
	case 1, 3, 5:
		m.Index, m.Scale = r.strides[n], 1
	case 2, 4:
		m.Index, m.Scale = r.strides[1], uint8(n)
	case 6:
		m.Index, m.Scale = r.strides[3], 2
	}
	return m
}

func (r rowPointers) advance(bytes int) {
	for _, p := range r.at {
		ADDQ(Imm(uint64(bytes)), p)
	}
}

// nextRows goes to the row behind the last one.
func (r rowPointers) nextRows() {
	for n := r.rows; n > 0; {
		switch {
		case n >= 8:
			LEAQ(Mem{Base: r.first, Index: r.strides[1], Scale: 8}, r.first)
			n -= 8
		case n >= 6:
			LEAQ(Mem{Base: r.first, Index: r.strides[3], Scale: 2}, r.first)
			n -= 6
		case n >= 4:
			LEAQ(Mem{Base: r.first, Index: r.strides[1], Scale: 4}, r.first)
			n -= 4
		default:
			ADDQ(r.strides[1], r.first)
			n--
		}
	}
}
