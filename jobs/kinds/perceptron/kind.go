package perceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "Perceptron"

// Kind is the perceptron as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, UsesModel: true, Params: params.Of[Params](),
		Summary: "Linear perceptrons: averaged, plain or voted, serial or mixed over blocks.",
		New:     New, Describe: describe.Of(readModel, (*model).describe),
		Predict: NewPredictor, Learn: learn,
		Figures: jobs.FiguresOf(readModel, (*model).figures), LeastState: leastState}
}

func learn(model jobs.Arrays, ops *kernelops.Set) (jobs.Learner, error) {
	o, err := Load(model, ops)
	if err != nil {
		return nil, err
	}
	return o.Reject.Learner(o, classify.Scored(o.labels, "score"))
}

// job is what all phases of a job know.
type job struct{ classify.Job[Params] }

// New makes the algorithm: the phases of the package.
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	read, err := classify.JobOf(spec, NewPredictor, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	j := job{read}
	if least := leastState(spec); j.MaxState > 0 && least > j.MaxState {
		return nil, protocol.SpecFault(
			"form %s keeps at least %d bytes of weights for the columns of this spec; spec.run.max_state_bytes is %d",
			j.Params.Form, least, j.MaxState).
			WithHint("Raise spec.run.max_state_bytes, or make the vectors narrower (fewer bits for hashing).")
	}
	phases := jobs.Phases{(&warmPhase{j}).phase()}
	if spec.Spec.Model == "" {
		space, err := features.NewBuilder(j.Params.Features, spec, features.Classes(2), features.Compares())
		if err != nil {
			return nil, params.In("spec.params", err)
		}
		phases = jobs.Phases{space.Planned(j.begin)}
	}
	if j.Params.Over == overChained {
		phases = append(phases, (&chainedPhase{j}).phase())
	} else {
		phases = append(phases, (&mixedPhase{j}).phase())
	}
	phases = append(phases, (&marginPhase{j}).phase())
	return j.Params.Algorithm(append(phases, j.Judge.Phases()...), false), nil
}

// The ways over blocks, and of mixing.
const (
	overChained = "chained"
	overMixed   = "mixed"

	mixChanged  = "changed"
	mixUniform  = "uniform"
	mixMistakes = "mistakes"
)

// Bounds of parameters.
const (
	maxEpochs      = 1_000
	maxVectorsEver = 1 << 20
	maxWeight      = 1e6
)

// Params of a job of kind Perceptron.
type Params struct {
	Form         string               `json:"form"`
	Classes      string               `json:"classes"`
	Epochs       int                  `json:"epochs"`
	Over         string               `json:"over"`
	Mixing       string               `json:"mixing"`
	Shuffle      bool                 `json:"shuffle"`
	ClassWeights params.ClassWeights  `json:"class_weights,omitempty"`
	Bias         bool                 `json:"bias"`
	Distinct     float64              `json:"distinct"`
	MaxVectors   int                  `json:"max_vectors"`
	Costs        evaluation.Costs     `json:"costs,omitempty"`
	RejectBelow  evaluation.Rejection `json:"reject_below,omitempty"`
	Features     features.Params      `json:"features"`
	blocks.Size
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("form", &p.Form, Averaged.String(), formNames...).
			Says("Weights that decide: their mean over all records, the last, or a vote of all, weighted or not."),
		params.Choice("classes", &p.Classes, ArgMax.String(), ruleNames[1:]...).
			Says("Rule for more than two classes."),
		params.Whole("epochs", &p.Epochs, 5, 1, maxEpochs).
			Says("Most passes over the training records; one without a mistake is the last."),
		params.Choice("over", &p.Over, overChained, overChained, overMixed).
			Says("chained is exactly the serial algorithm, block by block; mixed trains all blocks at once and mixes " +
				"their weights after each epoch."),
		params.Choice("mixing", &p.Mixing, mixChanged, mixChanged, mixUniform, mixMistakes).
			Says("Weights of the blocks in a mixture."),
		params.Flag("shuffle", &p.Shuffle, true).
			Says("Draws another order for each epoch; without it records come in the order of the input."),
		p.BlockParameter("A shuffle orders the blocks, and the records within each; mixed mixes their weights."),
		p.ClassWeights.Parameter(),
		params.Flag("bias", &p.Bias, true).Says("Adds a bias, the weight of a column that is always 1."),
		params.Number("distinct", &p.Distinct, 0, "[1e-6, 1e6]").Missing("0: none").
			Says("Gives each training record a feature of its own of this size."),
		params.Whole("max_vectors", &p.MaxVectors, 10_000, 1, maxVectorsEver).
			Says("Most vectors that vote, beside the last; those with the most votes are kept."),
		p.Costs.Parameter(evaluation.CostsJudge),
		p.RejectBelow.Parameter(),
		p.Features.Section(),
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	switch {
	case p.Distinct > 0 && p.Over == overMixed:
		return protocol.SpecFault(
			"distinct is chained only: a record's own feature is in one block, and mixing would shrink its weight")
	case p.Distinct > 0 && p.form().votes():
		return protocol.SpecFault("distinct needs form plain or averaged, not %s", p.Form)
	case p.Over == overMixed && p.form().votes():
		return protocol.SpecFault("form %s is chained only: a mean of weights has no vote of its own", p.Form)
	}
	return p.RejectBelow.Check(p.Costs, "", true)
}

// form of parameters that were checked.
func (p Params) form() Form { return Form(max(0, slices.Index(formNames, p.Form))) }

// setup is that of the parameters over a space; a class weight of an unknown label is a fault.
func (p Params) setup(space *features.Space) (Setup, error) {
	s := Setup{Rule: Signed, Form: p.form(), Classes: space.Labels.Len(), Width: space.Width, Sparse: space.Sparse,
		Bias: p.Bias, Distinct: float32(p.Distinct), MaxVectors: p.MaxVectors, Reject: p.RejectBelow}
	if s.Classes > 2 {
		s.Rule = Rule(slices.Index(ruleNames, p.Classes))
	}
	if s.Distinct > 0 && s.Rule != Signed {
		return Setup{}, protocol.SpecFault(
			"spec.params: distinct is for two classes; the training records have %d", s.Classes)
	}
	weights, err := p.ClassWeights.By(space.Labels.List())
	if err != nil {
		return Setup{}, err
	}
	if len(p.ClassWeights) > 0 {
		for _, w := range weights {
			s.ClassWeights = append(s.ClassWeights, float32(w))
		}
	}
	return s, s.checkSize()
}

// maxNumbers bounds the weights of all classes.
const maxNumbers = 1 << 27

func (s Setup) checkSize() error {
	if s.Width > math.MaxInt32 || s.rows() > maxNumbers/s.stride() {
		return protocol.InputFault(protocol.CodeInputLimit,
			"%d classes of %d columns are more than 2^27 weights", s.Classes, s.Width).
			WithHint("Make the vectors narrower (for text: max_features, min_df).")
	}
	return nil
}
