// Package kernelops says what each vector operation means, in Go, and which
// implementation of it this CPU runs.
//
// An operation is a method of Set. Its doc comment is its Go loop, and the generic set runs
// that loop: it is the specification, and every other set gives the same bits for finite and
// infinite values. Where a result is NaN, all sets give a NaN, but not always the same
// payload or sign: a program that stores results canonicalises or rejects NaN first.
//
// Misuse (lengths that differ, rows that overlap) panics with a constant message, once, before
// anything is written.
package kernelops

import "github.com/gram-compute/gram/kernelops/decimal"

// Set is one implementation of every operation. Take one with Best, ByName or Choose;
// the zero Set has no operations. It is not changed after it is made and is safe
// for concurrent use.
type Set struct {
	Name string

	addScaled func(dst, x []float64, a float64)
	add       func(dst, x []float64)

	matrix *matrixSet // nil in the generic set
	// oneStream says that memory gives most to a reader of one place: 1.7 times what a reader of four gets on an EPYC
	// of the fourth generation, where a Xeon gives a quarter more to the latter.
	oneStream bool
	bytes     *byteSet // nil where there is no instruction for it

	sqDistEach  func(dst *float64, rows **float32, x *float32, dim int) // nil where there is no code for it
	screen      screen                                                  // nil where bounds are not kept: see Bounds
	screenBytes screenBytes                                             // nil but in avx512 with VNNI

	vectorOps
	Mixed Mixed
	// Decimals reads rows of decimal numbers; nil where that is done one number at a time.
	Decimals decimal.Read
}

// Generic returns the set written in Go, which every other set must equal to the bit.
func Generic() *Set {
	return &Set{
		Name:      "generic",
		addScaled: addScaledGeneric,
		add:       addGeneric,
		vectorOps: vectorGeneric(),
		Mixed:     mixedGeneric(),
	}
}
