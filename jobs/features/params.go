package features

import (
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/jobs/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// The ways to scale; see the package.
const (
	ScaleNone     = "none"
	ScaleStandard = "standard"
	ScaleMinMax   = "minmax"
	ScaleL2       = "l2"
)

// Params choose how records become vectors.
type Params struct {
	Scale string             `json:"scale"`          // "none", "standard", "minmax" or "l2"
	Text  *vocabulary.Params `json:"text,omitempty"` // for records that are texts; nil stands for the defaults
	// Hashing gives texts columns by hash; nil gives each term of a dictionary its own.
	Hashing *Hashing `json:"hashing,omitempty"`
}

// DefaultParams scale nothing. They hold the defaults for texts, so that JSON
// decoded over them changes what it names and no more.
func DefaultParams() Params {
	text := vocabulary.DefaultParams()
	return Params{Scale: ScaleNone, Text: &text}
}

// Check refuses senseless parameters with a *protocol.Fault of CodeSpecInvalid.
func (p Params) Check() error {
	switch p.Scale {
	case ScaleNone, ScaleStandard, ScaleMinMax, ScaleL2:
	default:
		return protocol.SpecFault("scale is none, standard, minmax or l2, not %q", p.Scale)
	}
	if p.Hashing != nil {
		if err := validate.In("hashing", p.Hashing.check()); err != nil {
			return err
		}
		if t := p.text(); t.MinDF != 1 || t.MaxDF != 0 || t.MaxFeatures != 0 {
			return protocol.SpecFault(
				"min_df, max_df and max_features choose the terms of a dictionary; with hashing there is none")
		}
	}
	return validate.In("text", p.text().Check())
}

func (p Params) text() vocabulary.Params {
	if p.Text == nil {
		return vocabulary.DefaultParams()
	}
	return *p.Text
}

// checkForm refuses a scale that records of a form cannot have.
func (p Params) checkForm(f form) error {
	switch {
	case p.Hashing != nil && f != texts:
		return protocol.SpecFault("spec.params: hashing is of texts; the records are %v", f)
	case f == sparse && p.Scale == ScaleMinMax:
		return protocol.SpecFault("spec.params: scale minmax would fill sparse vectors; use standard or l2")
	case f == texts && p.Scale != ScaleNone && p.Scale != ScaleL2:
		return protocol.SpecFault("spec.params: texts take scale none or l2, not %s", p.Scale)
	}
	return nil
}
