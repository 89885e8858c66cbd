package gaussiannb

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// KindName is the kind in a spec.
const KindName = "GaussianNaiveBayes"

// Kind is Gaussian naive Bayes as a declared kind of job.
func Kind() jobs.Kind {
	return jobs.Kind{Name: KindName, UsesQueries: true, Evaluates: true, UsesModel: true, Accepts: accepts,
		Params:  params.Of[Params](),
		Summary: "Gaussian naive Bayes: a normal density for each column of each class, on dense vectors.",
		New:     New, Describe: describe.Of(jobs.Load[model], (*model).describe), Predict: NewPredictor,
		Figures: evaluation.Figures}
}

// New returns the algorithm: phases "features", "moments" and, if there are test records, "evaluate".
func New(spec protocol.JobSpec) (jobs.Algorithm, error) {
	load := func(model jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) {
		return loadPredictor(model, spec.Spec.Evaluation != nil)
	}
	j, err := classify.JobOf(spec, load, func(p Params) evaluation.Costs { return p.Costs })
	if err != nil {
		return nil, err
	}
	space, err := spacePhase(j.Params, spec)
	if err != nil {
		return nil, err
	}
	moments := momentsPhase{Job: j, grown: spec.Spec.Model != ""}
	phases := append(jobs.Phases{space, moments.phase()}, j.Judge.Phases()...)
	if !j.Params.Features.OneRound() {
		return phases, nil
	}
	return j.Judge.OnceEach(phases), nil
}

// Params of a job of kind GaussianNaiveBayes.
type Params struct {
	Prior        evaluation.Prior `json:"prior"`
	VarSmoothing float64          `json:"var_smoothing"`
	RejectBelow  float64          `json:"reject_below"`
	Costs        evaluation.Costs `json:"costs,omitempty"`
	Grows        bool             `json:"grows,omitempty"`
	Features     features.Params  `json:"features"`
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		p.Prior.Parameter("weight of the training records"),
		params.Number("var_smoothing", &p.VarSmoothing, 1e-9, "[1e-30, 1]").
			Says("Times the largest variance of a column, is added to every variance.").
			From("As scikit-learn's GaussianNB."),
		evaluation.RejectBelowParameter(&p.RejectBelow),
		p.Costs.Parameter(evaluation.CostsDecide),
		params.Flag("grows", &p.Grows, false).
			Says("Keeps in the model the exact sums that a later job, whose spec.model it is, needs to add records."),
		p.Features.DenseSection(),
	}
}

// Check rejects parameters that contradict each other, and texts, which have no normal density.
func (p *Params) Check() error {
	const texts = "features.%s is for texts, which have no normal density; kind NaiveBayes takes them"
	switch {
	case p.Features.Text != nil:
		return protocol.SpecFault(texts, "text")
	case p.Features.Hashing != nil:
		return protocol.SpecFault(texts, "hashing")
	case p.Features.TFIDF != nil:
		return protocol.SpecFault(texts, "tfidf")
	}
	if p.Grows {
		if err := p.Features.CheckGrows("grows"); err != nil {
			return err
		}
	}
	return p.Costs.CheckRule(p.RejectBelow)
}
