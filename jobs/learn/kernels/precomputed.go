package kernels

import (
	"slices"

	"github.com/gram-compute/gram/jobs/params"
)

// Precomputed is the kernel whose values are given in place of vectors. No Function has it: a kind that takes it finds
// the values by itself.
const Precomputed = "precomputed"

// DeclareGiven is Declare for a kind that takes the kernel Precomputed besides.
func (p *Params) DeclareGiven(preset string) []params.Parameter {
	choices := append(slices.Clone(names), Precomputed)
	return append([]params.Parameter{
		params.Choice("kernel", &p.Kernel, preset, choices...).Says("The kernel.").
			From(formulas + " precomputed: column j of a record is its kernel with record j of spec.input."),
	}, p.numbers()...)
}

// Given reports whether the values of the kernel are given.
func (p Params) Given() bool { return p.Kernel == Precomputed }
