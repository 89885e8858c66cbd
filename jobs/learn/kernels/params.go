package kernels

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// The kernels, as parameters and models name them.
const (
	Linear     = "linear"
	Polynomial = "polynomial"
	RBF        = "rbf"
	Sigmoid    = "sigmoid"
)

var names = []string{Linear, Polynomial, RBF, Sigmoid}

// parameters are the numbers that kernels take.
var parameters = [4]string{"gamma", "scale", "offset", "degree"}

// Params choose a kernel; a kind embeds them in its own. A parameter of another kernel is
// refused, and one that is left out has the default of the package.
type Params struct {
	Kernel string   `json:"kernel"` // "linear", "polynomial", "rbf" or "sigmoid"
	Gamma  *float64 `json:"gamma,omitempty"`
	Scale  *float64 `json:"scale,omitempty"`
	Offset *float64 `json:"offset,omitempty"`
	Degree *int     `json:"degree,omitempty"`
}

// Declare declares the parameters, with a kernel for a spec that names none.
func (p *Params) Declare(preset string) []params.Parameter {
	return append([]params.Parameter{
		params.Choice("kernel", &p.Kernel, preset, names...).Says("The kernel.").From(formulas),
	}, p.numbers()...)
}

// formulas are those of the kernels.
const formulas = "linear <x, y>; polynomial (scale <x, y> + offset)^degree; rbf exp(-gamma |x - y|^2); " +
	"sigmoid tanh(scale <x, y> + offset)."

// numbers declares what the kernels take.
func (p *Params) numbers() []params.Parameter {
	return []params.Parameter{
		params.Optional("gamma", &p.Gamma).Missing("1 / columns").Within("above 0").Says("For rbf."),
		params.Optional("scale", &p.Scale).Missing("polynomial 1, sigmoid 1 / columns").Within("not 0").
			Says("For polynomial and sigmoid."),
		params.Optional("offset", &p.Offset).Missing("polynomial 1, sigmoid 0").Says("For polynomial and sigmoid."),
		params.Optional("degree", &p.Degree).Missing("2").Within("1 to 64").Says("For polynomial."),
	}
}

// WithDefaults writes in every default that does not depend on the data.
func (p Params) WithDefaults() Params {
	setDefault := func(to **float64, v float64) {
		if *to == nil {
			*to = &v
		}
	}
	switch p.Kernel {
	case Polynomial:
		setDefault(&p.Scale, 1)
		setDefault(&p.Offset, 1)
		if p.Degree == nil {
			p.Degree = new(2)
		}
	case Sigmoid:
		setDefault(&p.Offset, 0)
	}
	return p
}

// Check rejects a parameter that the kernel does not have, or not so, with a *protocol.Fault of CodeSpecInvalid.
func (p Params) Check() error {
	uses := map[string][4]bool{Linear: {}, Polynomial: {false, true, true, true}, RBF: {true},
		Sigmoid: {false, true, true}, Precomputed: {}}
	used, known := uses[p.Kernel]
	if !known {
		return protocol.SpecFault("kernel is one of %q, not %q", names, p.Kernel).Suggest(p.Kernel, names)
	}
	var takes []string
	for i, name := range parameters {
		if used[i] {
			takes = append(takes, name)
		}
	}
	taken := cmp.Or(strings.Join(takes, ", "), "no parameter")
	given := [4]bool{p.Gamma != nil, p.Scale != nil, p.Offset != nil, p.Degree != nil}
	for i, name := range parameters {
		if given[i] && !used[i] {
			return protocol.SpecFault("kernel %s has no %s; it takes %s", p.Kernel, name, taken)
		}
	}
	if (p.Kernel == Polynomial || p.Kernel == Sigmoid) && p.Scale != nil && float32(*p.Scale) == 0 {
		return protocol.SpecFault("kernel %s: a scale of 0 makes the kernel constant", p.Kernel)
	}
	_, err := p.Of(1)
	return err
}

// Of returns the kernel for vectors of a width; impossible parameters are a *protocol.Fault
// of CodeSpecInvalid.
func (p Params) Of(width int) (kernelops.Kernel, error) {
	p = p.WithDefaults()
	scale := func(given *float64) float32 {
		if given == nil {
			return float32(1 / float64(max(1, width)))
		}
		return float32(*given)
	}
	var k kernelops.Kernel
	switch p.Kernel {
	case Polynomial:
		k = kernelops.Kernel{Kind: kernelops.Polynomial, Scale: scale(p.Scale), Offset: float32(*p.Offset),
			Degree: *p.Degree}
	case RBF:
		k = kernelops.Kernel{Kind: kernelops.RBF, Scale: scale(p.Gamma)}
	case Sigmoid:
		k = kernelops.Kernel{Kind: kernelops.Sigmoid, Scale: scale(p.Scale), Offset: float32(*p.Offset)}
	}
	if k.Validate() != nil {
		return kernelops.Kernel{}, protocol.SpecFault("kernel %s: %s", p.Kernel, p.impossible(k))
	}
	return k, nil
}

// impossible says which parameter no kernel has; defaults are possible.
func (p Params) impossible(k kernelops.Kernel) string {
	switch {
	case p.Kernel == RBF:
		return fmt.Sprintf("gamma is above 0 within the range of float32, not %g", *p.Gamma)
	case k.Scale-k.Scale != 0:
		return fmt.Sprintf("scale is within the range of float32, not %g", *p.Scale)
	case k.Offset-k.Offset != 0:
		return fmt.Sprintf("offset is within the range of float32, not %g", *p.Offset)
	}
	return fmt.Sprintf("degree is from 1 to 64, not %d", *p.Degree)
}

// Text writes a kernel for people, such as "rbf, gamma 0.05".
func Text(k kernelops.Kernel) string {
	switch k.Kind {
	case kernelops.Polynomial:
		return fmt.Sprintf("polynomial, (%v <x, y> + %v)^%d", k.Scale, k.Offset, k.Degree)
	case kernelops.RBF:
		return fmt.Sprintf("rbf, gamma %v", k.Scale)
	case kernelops.Sigmoid:
		return fmt.Sprintf("sigmoid, tanh(%v <x, y> + %v)", k.Scale, k.Offset)
	}
	return Linear
}
