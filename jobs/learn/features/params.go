package features

import (
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The ways to scale; see the package.
const (
	ScaleNone     = "none"
	ScaleStandard = "standard"
	ScaleMinMax   = "minmax"
	ScaleMaxAbs   = "maxabs"
	ScaleRobust   = "robust"
	ScaleL2       = "l2"
)

// Params choose how records become vectors.
type Params struct {
	Scale   string             `json:"scale"`
	Text    *vocabulary.Params `json:"text,omitempty"`    // nil stands for the defaults
	Hashing *Hashing           `json:"hashing,omitempty"` // nil gives each term a column of its own
	TFIDF   *TFIDF             `json:"tfidf,omitempty"`   // nil leaves counts as they are
	Map     *Mapping           `json:"map,omitempty"`     // nil leaves dense vectors as they are
	// Categories are of spec.input.categorical; nil stands for the defaults.
	Categories *Categories `json:"categories,omitempty"`
	Missing
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter { return p.declared() }

// declared are the parameters; further are the ways with missing numbers that the kind has beside those of all.
func (p *Params) declared(further ...filling) []params.Parameter {
	return append([]params.Parameter{
		p.scale(), p.mapping(),
		params.SectionAt("text", &p.Text),
		params.OptionalSection("hashing", &p.Hashing).
			Says("Gives texts 2^bits columns by hash, in place of one for each term of a dictionary."),
		params.OptionalSection("tfidf", &p.TFIDF).
			Says("Weighs the terms of texts, or sparse counts, by how rare they are. Set scale to l2 for rows of length 1."),
		p.categoriesSection(),
	}, p.missingParameters(further...)...)
}

func (p *Params) categoriesSection() params.Parameter {
	return params.OptionalSection("categories", &p.Categories).
		Says("Which numbers the columns of spec.input.categorical become: columns of 0 and 1.")
}

func (p *Params) scale() params.Parameter {
	return params.Choice("scale", &p.Scale, ScaleNone, ScaleNone, ScaleStandard, ScaleMinMax, ScaleMaxAbs,
		ScaleRobust, ScaleL2).
		Says("Scaling of the columns (standard, minmax, maxabs, robust) or of each vector (l2). " +
			"Sparse vectors take no minmax or robust, texts none or l2.")
}

func (p *Params) mapping() params.Parameter {
	return params.OptionalSection("map", &p.Map).
		Says("Gives dense vectors products of their columns as further columns, before they are scaled.")
}

// OneRound reports whether the phase "features" is one round: scale robust searches for quantiles in further ones.
func (p Params) OneRound() bool { return p.Scale != ScaleRobust }

// Section declares the parameters as section "features" of a kind.
func (p *Params) Section() params.Parameter { return params.Section("features", p) }

// DenseSection is Section for a kind that takes dense vectors only.
func (p *Params) DenseSection() params.Parameter {
	return params.Section("features", (*denseParams)(p))
}

// denseParams are those for dense vectors.
type denseParams Params

// Parameters declares the parameters.
func (p *denseParams) Parameters() []params.Parameter {
	all := (*Params)(p)
	return append([]params.Parameter{all.scale(), all.mapping(), all.categoriesSection()},
		p.missingParameters(missingOmit)...)
}

// OmitSection is Section for a kind that can also leave missing numbers of dense vectors out.
func (p *Params) OmitSection() params.Parameter {
	return params.Section("features", (*omitParams)(p))
}

// omitParams are those of OmitSection.
type omitParams Params

// Parameters declares the parameters.
func (p *omitParams) Parameters() []params.Parameter { return (*Params)(p).declared(missingOmit) }

// Check is that of all parameters.
func (p *omitParams) Check() error { return (*Params)(p).Check() }

// checkAll is params.Check. Only a kind that declares missing: omit has it here.
func (p *Params) checkAll() error {
	if !p.omits() {
		return params.Check(p)
	}
	return params.Check((*omitParams)(p))
}

// checkInput refuses missing: omit where the spec already tells that the records are no dense vectors.
func (p *Params) checkInput(in protocol.Input) error {
	if !p.omits() {
		return nil
	}
	what := dense
	switch in.Format {
	case "libsvm":
		if !in.Dense {
			what = sparse
		}
	case "tsv", "document", "mail":
		what = texts
	case "csv", "jsonl":
		if !in.Text.IsZero() && len(in.Features)+len(in.Categorical) == 0 {
			what = texts
		}
	}
	return p.checkForm(what)
}

// Check rejects parameters of a dictionary where hashing replaces it.
func (p *Params) Check() error {
	if t := p.text(); p.Hashing != nil && (t.MinDF != 1 || t.MaxDF != 0 || t.MaxFeatures != 0) {
		return protocol.SpecFault(
			"min_df, max_df and max_features choose the terms of a dictionary; with hashing there is none")
	}
	if err := p.checkMissing(); err != nil {
		return err
	}
	return p.checkTFIDF()
}

// DefaultParams are those of an empty section.
func DefaultParams() (p Params) {
	params.Reset(p.Parameters())
	return p
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
	case p.puts() && f != dense:
		return protocol.SpecFault("spec.params: missing is of dense vectors; the records are %v", f)
	case p.Map != nil && f != dense:
		return protocol.SpecFault("spec.params: map is of dense vectors; the records are %v", f)
	case p.TFIDF != nil && f == dense:
		return protocol.SpecFault("spec.params: tfidf is of texts and of sparse vectors; the records are %v", f)
	case p.TFIDF != nil && p.Scale != ScaleNone && p.Scale != ScaleL2:
		return protocol.SpecFault("spec.params: tfidf takes scale none or l2, not %s", p.Scale)
	case f == sparse && (p.Scale == ScaleMinMax || p.Scale == ScaleRobust):
		return protocol.SpecFault("spec.params: scale %s would fill sparse vectors; use maxabs, standard or l2",
			p.Scale)
	case f == texts && p.Scale != ScaleNone && p.Scale != ScaleL2:
		return protocol.SpecFault("spec.params: texts take scale none or l2, not %s", p.Scale)
	}
	return nil
}

// form is the kind of records that a data set has.
type form int32

const (
	unknown form = iota // there are no records
	dense
	sparse
	texts
)

func (f form) String() string {
	return [...]string{"of no form", "dense vectors", "sparse vectors", "texts"}[f]
}

// shape is what all records of a data set share.
type shape struct {
	form       form
	width      int // of vectors; 0 for texts
	categories int // columns of categories, beside dense vectors, whose width then may be 0
}

func (s shape) String() string {
	if s.categories > 0 {
		return fmt.Sprintf("%d numbers and %d categories", s.width, s.categories)
	}
	if s.width > 0 {
		return fmt.Sprintf("%s of width %d", s.form, s.width)
	}
	return s.form.String()
}

func shapeOf(block *dataset.Block) shape {
	switch {
	case len(block.IDs) == 0:
		return shape{}
	case block.Dense.Width > 0 || block.Categories.Width > 0:
		return shape{dense, block.Dense.Width, block.Categories.Width}
	case block.Sparse.Width > 0:
		return shape{form: sparse, width: block.Sparse.Width}
	case block.Texts != nil:
		return shape{form: texts}
	}
	return shape{}
}

// shapeFault reports that the record id has another shape than the records before it or
// than the model.
func shapeFault(id dataset.Identity, got, want shape) error {
	return id.Fault("the records are %v, not %v", got, want).
		WithHint("All records of a job, and those that its model predicts, have one width.")
}

// valueFault reports a value that is not a finite number.
func valueFault(id dataset.Identity, column int, what string) error {
	return id.Fault("value %d of the vector %s", column+1, what).OfColumn(column + 1)
}

// Unseen returns the fault of a training record whose label is not in the space.
func Unseen(id dataset.Identity) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "a training record has a label that phase %q did not see", Name).
		In(id.Object).WithOffset(id.Offset)
}
