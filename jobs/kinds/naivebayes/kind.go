package naivebayes

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NaiveBayes"

// Kind is multinomial naive Bayes as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, UsesModel: true, Accepts: accepts,
		Params:  params.Of[Params](),
		Summary: "Naive Bayes on texts or counts: multinomial, Bernoulli or complement.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe),
		Classify: NewClassifier, Predict: NewPredictor, Figures: evaluation.Figures}
}

// New makes the algorithm: phases "vocabulary", "counts" and, where there are records to judge
// the model on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	load := loadDecider
	if spec.Spec.Evaluation != nil {
		load = NewPredictor
	}
	j, err := classify.JobOf(spec, load, func(p Params) evaluation.Costs { return p.Costs })
	if err == nil {
		err = j.Params.checkInputs(spec)
	}
	if err != nil {
		return nil, err
	}
	tokenizer, err := j.Params.Text.Tokenizer()
	if err != nil {
		return nil, err
	}
	words, err := vocabulary.New(j.Params.Text, j.Train)
	if err != nil {
		return nil, err
	}
	if j.Params.omits() {
		words.OfKnown(j.Params.refusal())
	}
	grown, passes := spec.Spec.Model != "", passesOver(spec.Spec)
	counts := countsPhase{Job: j, tokenizer: tokenizer, grown: grown, passes: passes}
	phases := jobs.Phases{(&vocabularyPhase{words, j.Params, grown, passes}).phase(), counts.phase()}
	return j.Judge.OnceEach(append(phases, j.Judge.Phases()...)), nil
}

// passesOver reports whether the records are texts that are read once: none is held out, to be read again, and none may
// be skipped, which each round counts.
func passesOver(spec protocol.Spec) bool {
	in := spec.Input
	return spec.Evaluation == nil && !in.Split.HoldsOut() && in.OnBadRecord.SkipMax == 0 &&
		(!in.Text.IsZero() || in.Format == "document" || in.Format == "mail" || in.Format == "") // "" is in memory
}

// checkInputs refuses data sets whose records are not what the kind takes.
func (p Params) checkInputs(spec protocol.JobSpec) error {
	check := checkInput
	if p.omits() {
		check = checkDenseInput
		if spec.Spec.Model != "" {
			return protocol.SpecFault("spec.params: features.missing: %s counts how many records have each column, which a "+
				"model that grows does not", missingOmit).WithHint("Leave spec.model out and train on all records.")
		}
	}
	if err := check(spec.Spec.Input); err != nil {
		return params.In("spec.input", err)
	}
	if q := spec.Spec.Queries; q != nil {
		return params.In("spec.queries", check(*q))
	}
	return nil
}

// checkInput refuses an input whose records are neither texts with labels nor sparse vectors.
func checkInput(in protocol.Input) error {
	named := !in.Label.IsZero() && in.Weight.IsZero()
	switch in.Format {
	case "", "libsvm": // records in memory have no format
		return nil
	case "tsv", "csv", "jsonl":
		if named && !in.Text.IsZero() && len(in.Features) == 0 {
			return nil
		}
	case "document", "mail":
		if named {
			return nil
		}
	}
	return protocol.SpecFault("kind %s counts words in texts with labels, or takes counts", KindName).
		WithHint("Use format tsv, csv or jsonl, with label and text, and neither features nor weight; " +
			"document or mail with label: folder; libsvm for counts; or params.features.missing: omit for columns of counts")
}

// checkLabels refuses one class (INPUT_EMPTY: there is nothing to tell apart), and
// parameters that name other labels than there are (SPEC_INVALID).
func (p Params) checkLabels(labels []string) error {
	if len(labels) == 1 {
		return protocol.EmptyFault("every training record has the label %s", quote(labels[0])).
			WithHint("Naive Bayes needs two classes or more; check spec.input.label.")
	}
	if p.Positive != "" && (len(labels) != 2 || !slices.Contains(labels, p.Positive)) {
		return protocol.SpecFault(
			"spec.params: positive %q needs exactly two labels, itself among them; the training records have %d: %s",
			p.Positive, len(labels), someOf(labels))
	}
	if _, err := p.Costs.Rule(labels); err != nil {
		return err
	}
	return p.Prior.CheckLabels(labels)
}

// Params of a job of kind NaiveBayes.
type Params struct {
	Form        string            `json:"form"`
	Alpha       float64           `json:"alpha"`
	Prior       evaluation.Prior  `json:"prior"`
	Positive    string            `json:"positive,omitempty"`
	Ratio       float64           `json:"ratio"`
	RejectBelow float64           `json:"reject_below"`
	Costs       evaluation.Costs  `json:"costs,omitempty"`
	Grows       bool              `json:"grows,omitempty"`
	Text        vocabulary.Params `json:"text"`
	Features    Features          `json:"features,omitzero"`
}

// maxAlpha keeps alpha times the number of terms far from overflow.
const maxAlpha = 1e9

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("form", &p.Form, formMultinomial, forms()...).
			Says("Model of the texts: counts of words, their presence, or counts in the other classes."),
		params.Number("alpha", &p.Alpha, 1, "(0, 1e9]").Checked(p.checkAlpha).
			Says("Is added to every count; 1 is Laplace smoothing."),
		p.Prior.Parameter("training documents"),
		params.Text("positive", &p.Positive).
			Says("With two classes, the label that is decided if its likelihood ratio is above ratio."),
		params.Number("ratio", &p.Ratio, 1, "(0, Inf)").
			Says("Threshold of p(positive|x) / p(other|x).").From("Smola and Vishwanathan, Algorithm 1."),
		evaluation.RejectBelowParameter(&p.RejectBelow),
		p.Costs.Parameter(evaluation.CostsDecide),
		params.Flag("grows", &p.Grows, false).
			Says("Keeps in the model what a later job, whose spec.model it is, needs to add records."),
		params.Section("text", &p.Text),
		params.Section("features", &p.Features),
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	switch {
	case p.Ratio != 1 && p.Positive == "":
		return protocol.SpecFault("ratio needs positive, the label that it is a ratio for")
	case p.RejectBelow > 0 && p.Positive != "":
		return protocol.SpecFault(
			"positive and reject_below exclude each other: the one decides by a ratio, the other rejects by a " +
				"posterior")
	case p.Costs != nil && (p.Positive != "" || p.RejectBelow > 0):
		return protocol.SpecFault("costs exclude positive and reject_below: each is a rule of its own to decide by")
	}
	if p.omits() && p.Grows {
		return protocol.SpecFault("grows and features.missing: %s exclude each other: a model that grows does not count "+
			"how many records have each column", missingOmit)
	}
	return p.checkGrowth()
}

func (p *Params) checkAlpha() error {
	if !(p.Alpha > 0 && p.Alpha <= maxAlpha) {
		return protocol.SpecFault(
			"alpha is above 0 and at most %g, not %v; for next to no smoothing write 1e-10", maxAlpha, p.Alpha)
	}
	return nil
}
