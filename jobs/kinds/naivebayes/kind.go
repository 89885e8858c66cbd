package naivebayes

import (
	"github.com/gram-compute/gram/jobs/learn/describe"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "NaiveBayes"

// Kind is multinomial naive Bayes as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, UsesModel: true, Accepts: accepts, Params: params.Of[Params](),
		Summary: "Naive Bayes on texts or counts: multinomial, Bernoulli or complement.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe),
		Classify: NewClassifier, Predict: NewPredictor, Figures: evaluation.Figures}
}

// New makes the algorithm: phases "vocabulary", "counts" and, where there are records to judge
// the model on, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	if err := checkInput(spec.Spec.Input); err != nil {
		return nil, params.In("spec.input", err)
	}
	if q := spec.Spec.Queries; q != nil {
		if err := checkInput(*q); err != nil {
			return nil, params.In("spec.queries", err)
		}
	}
	j, err := classify.JobOf(spec, loadDecider, func(p Params) evaluation.Costs { return p.Costs })
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
	grown := spec.Spec.Model != ""
	counts := countsPhase{Job: j, tokenizer: tokenizer, grown: grown}
	phases := jobs.Phases{(&vocabularyPhase{words, j.Params, grown}).phase(), counts.phase()}
	return append(phases, j.Judge.Phases()...), nil
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
			"document or mail with label: folder; or libsvm for counts")
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
	if p.Prior.Kind != priorGiven {
		return nil
	}
	if given := sortedKeys(p.Prior.Given); !slices.Equal(given, labels) {
		return protocol.SpecFault(
			"spec.params: prior names the labels %s; the training records have %s", someOf(given), someOf(labels))
	}
	return nil
}
