package supportvectormachine

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/calibration"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/kernelops"
)

// predictor is a model with the memory for its kernel values; one goroutine at a time.
type predictor struct {
	*model
	reader    *features.Reader
	labels    []string
	evaluator kernels.Evaluator
	supports  kernels.Points
	points    kernels.Points // of a chunk
	dense     []float32
	values    []float32
	k         []float64     // of one record
	columns   []int64       // of a given kernel: those of the support vectors, or all
	terms     []machineTerm // by support vector or column: where its coefficients count
	starts    []int         // of each support vector, in terms; one more at the end
	decisions []float64     // of one record, by machine
	votes     []float64
	outcomes  []jobs.Outcome
	pairs     *calibration.Pairs
	router    *router // of an early answer
}

// machineTerm is a coefficient, with its sign.
type machineTerm struct {
	machine int
	alpha   float64
}

// NewPredictor loads a model. A prediction takes time linear in support vectors times width and classes.
func NewPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	return m.reject.Of(newPredictor(m, m.space.NewReader(), ops))
}

func newPredictor(m *model, reader *features.Reader, ops *kernelops.Set) *predictor {
	if m.early != nil {
		return &predictor{model: m, reader: reader, labels: m.space.Labels.List(), router: newRouter(m, reader, ops)}
	}
	p := &predictor{model: m, reader: reader, labels: m.space.Labels.List(),
		evaluator: kernels.Evaluator{Ops: ops}, decisions: make([]float64, len(m.bias)),
		votes: make([]float64, m.space.Labels.Len())}
	for j := range m.len() {
		p.starts, p.terms = append(p.starts, len(p.terms)), append(p.terms, m.termsOf(j)...)
	}
	p.starts = append(p.starts, len(p.terms))
	if m.given != nil {
		p.givenTerms()
		return p
	}
	p.supports.Set(m.kernel, ops, m.matrix())
	return p
}

// Answers are a label, and as scores of two classes the decision of the machine and of it with the other sign; of more,
// the votes of each class, with less than half a vote more or less for how clear its decisions are. Of numbers they are
// a value, of one class inlier or outlier, and f - rho.
func (p *predictor) Answers() jobs.Answers {
	switch {
	case p.oneClass:
		return evaluation.DetectorAnswers("score")
	case p.regresses:
		return jobs.Answers{Value: "value"}
	}
	if p.sigmoids != nil {
		return classify.Scored(p.labels, "probability").Of(jobs.Probabilities)
	}
	return classify.Scored(p.labels, "score")
}

// Predict gives each record the label of the greatest score, of equals the first.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	v, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.outcomes = p.outcomes[:0]
	most := max(1, min(256, rows.TileFloats/max(1, p.space.Width)))
	err = rows.Chunks(ctx, v, most, &p.dense, p.chunk)
	return p.outcomes, err
}

// chunk decides some records.
func (p *predictor) chunk(c rows.Chunk) (err error) {
	if p.router != nil {
		p.outcomes, err = p.router.chunk(c, p.outcomes)
		return err
	}
	row, err := p.valuesOf(c)
	if err != nil {
		return err
	}
	for i, id := range c.IDs {
		copy(p.decisions, p.bias)
		for j, value := range row(i) {
			for _, t := range p.terms[p.starts[j]:p.starts[j+1]] {
				p.decisions[t.machine] += float64(t.alpha * value)
			}
		}
		if !jobs.Finite(p.decisions) {
			return kernels.Beyond(id, p.kernel.Kernel)
		}
		if p.oneClass {
			p.outcomes = append(p.outcomes, p.oneClassOutcome(p.decisions[0]))
			continue
		}
		if p.regresses {
			p.outcomes = append(p.outcomes, jobs.Outcome{Value: p.decisions[0]})
			continue
		}
		scores := p.scores()
		if p.sigmoids != nil {
			scores = p.probabilities()
		}
		best := rank.First(scores)
		p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.labels[best], Value: scores[best], Scores: scores})
	}
	return nil
}

// valuesOf returns a function that gives the kernel values of a record and all support vectors: of rbf those of
// float32, which are off by little wherever the rows lie; of the others, whose terms may cancel, those of float64.
func (p *predictor) valuesOf(c rows.Chunk) (func(i int) []float64, error) {
	n := max(p.len(), len(p.columns))
	p.k = kernelops.Resize(p.k, n)
	if p.given != nil {
		return func(i int) []float64 {
			columnsOf(p.k, c.X.Row(i), p.columns)
			return p.k[:len(p.columns)]
		}, nil
	}
	if p.kernel.Kind != kernelops.RBF {
		exact := kernels.ExactRows{Exact: kernels.Exact{Kernel: p.kernel.Kernel}, Ops: p.evaluator.Ops}
		return func(i int) []float64 {
			exact.Values(p.k, c.X.Row(i), p.matrix())
			return p.k
		}, nil
	}
	p.points.Set(p.kernel, p.evaluator.Ops, c.X)
	p.values = kernelops.Resize(p.values, len(c.IDs)*n)
	tile := matrixOf(p.values, len(c.IDs), n)
	if err := p.evaluator.Matrix(p.kernel, tile, &p.points, &p.supports); err != nil {
		return nil, err
	}
	return func(i int) []float64 {
		for j, v := range tile.Row(i) {
			p.k[j] = float64(v)
		}
		return p.k
	}, nil
}

// scores are those of the decisions; of more than two classes, the votes of the machines.
func (p *predictor) scores() []float64 {
	n := len(p.labels)
	scores := make([]float64, n)
	if n == 2 {
		scores[0], scores[1] = -p.decisions[0], p.decisions[0]
		return scores
	}
	voting.Classes(n).Vote(scores, p.votes, p.decisions)
	return scores
}
