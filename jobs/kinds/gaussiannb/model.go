package gaussiannb

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// model is a trained model.
type model struct {
	space          *features.Space
	decision       classify.Decision
	weight         []float64
	mean, variance []float64
	growth         *growth // nil where the model does not grow
}

func newModel(params Params, space *features.Space, root *sums.Moments) (*model, error) {
	m, err := estimate(params.VarSmoothing, space, root)
	if err != nil {
		return nil, err
	}
	m.decision, err = classify.NewDecision(params.Prior, params.RejectBelow, params.Costs, space.Labels.List())
	return m, err
}

// estimate finds the weights, the means and the variances.
func estimate(varSmoothing float64, space *features.Space, root *sums.Moments) (*model, error) {
	classes := space.Labels.Len()
	columns := space.Width
	if space.Omits() {
		columns *= 2 // see countPresent
	}
	if root.Classes() != classes || root.Width != columns {
		return nil, jobs.Malformed("moments of %d classes x %d columns, not %d x %d",
			root.Classes(), root.Width, classes, columns)
	}
	added := smoothing(varSmoothing, space)
	if added == 0 {
		return nil, protocol.EmptyFault("every column is constant over the training records").
			WithHint("Nothing tells the classes apart; check the input's columns.")
	}
	m := &model{space: space, weight: root.Weight.Floats(), mean: make([]float64, classes*space.Width),
		variance: make([]float64, classes*space.Width)}
	for y, weight := range m.weight {
		if weight == 0 {
			return nil, protocol.EmptyFault("the training records of label %q all weigh 0", space.Labels.At(y))
		}
		from, to := y*space.Width, (y+1)*space.Width
		if space.Omits() {
			if err := m.present(root, y); err != nil {
				return nil, err
			}
		} else {
			root.Mean(y, m.mean[from:to])
			root.Variance(y, m.variance[from:to])
		}
		for j := from; j < to; j++ {
			m.variance[j] += added
		}
	}
	return m, nil
}

// present sets the means and variances of a class over the numbers that are not missing. A column without any is a
// fault.
func (m *model) present(root *sums.Moments, y int) error {
	width := m.space.Width
	for j := range width {
		at, i := y*width+j, y*2*width+j
		weight := root.Sums.Int(i + width)
		if weight.Sign() <= 0 {
			return protocol.EmptyFault("the training records of label %q have no number of weight above 0 in column %d",
				m.space.Labels.At(y), j+1).OfColumn(j + 1).
				WithHint("Leave the column out with spec.input.features, or set features.missing to mean or constant.")
		}
		m.mean[at], m.variance[at] = root.Part(i, weight, root.Sums.Unit())
	}
	return nil
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	jobs.Make(f, &m.space).Fields(f)
	classes, width := m.space.Labels.Len(), m.space.Width
	jobs.List(f, "classes.weight", &m.weight, classes)            // above 0
	jobs.List(f, "classes.mean", &m.mean, classes, width)         // of scaled vectors
	jobs.List(f, "classes.variance", &m.variance, classes, width) // above 0, smoothed
	m.decision.Fields(f, m.space.Labels)
	m.check(f)
	if features.HasGrowth(f, m.growth != nil) {
		jobs.Make(f, &m.growth).Fields(f, m)
	}
}

// check requires what training guarantees and prediction relies on: every density is then a number.
func (m *model) check(f *jobs.Fields) {
	f.Require(!m.space.Sparse && len(m.weight) >= 2, "a model of %d classes, sparse: %v", len(m.weight), m.space.Sparse)
	const least, most = 1e-300, 1e300
	for _, w := range m.weight {
		f.Require(w > 0 && w < most, "a class of weight %v", w)
	}
	for i, v := range m.variance {
		mean := m.mean[i]
		f.Require(v > least && v < most && mean > -most && mean < most,
			"value %d of a model has mean %v and variance %v", i, mean, v)
	}
}

// predictor is a model with precomputed logarithms. Only one goroutine at a time may use it.
type predictor struct {
	*model
	classify.Outcomes
	reader    *features.Reader
	constant  []float64 // log p(y) - 1/2 sum over j of log(2 pi v_yj)
	precision []float64 // 1/v_yj
	prior     []float64 // log p(y)
	spread    []float64 // 1/2 log(2 pi v_yj), where numbers may be missing; else nil
	joint     []float64 // log p(x, y) of each class
	posterior []float64
}

// NewPredictor loads a model to predict blocks of dense vectors. The scores are the posteriors of all
// classes. Arrays that training cannot have written are a *protocol.Fault of CodeCorrupt.
func NewPredictor(arrays jobs.Arrays, _ *kernelops.Set) (jobs.Predictor, error) {
	return loadPredictor(arrays, true)
}

func loadPredictor(arrays jobs.Arrays, posteriors bool) (jobs.Predictor, error) {
	m, err := jobs.Load[model](arrays)
	if err != nil {
		return nil, err
	}
	classes := len(m.weight)
	p := &predictor{model: m, Outcomes: classify.NewOutcomes(m.space.Labels.List(), posteriors),
		reader: m.space.NewReader(), constant: m.decision.LogPrior(m.space.Labels, m.weight),
		prior:     m.decision.LogPrior(m.space.Labels, m.weight),
		precision: make([]float64, len(m.variance)),
		joint:     make([]float64, classes), posterior: make([]float64, classes)}
	for i, v := range m.variance {
		p.precision[i] = 1 / v
		spread := float64(0.5 * fmath.Log(float64(2*math.Pi*v)))
		if p.constant[i/m.space.Width] -= spread; m.space.Omits() {
			p.spread = append(p.spread, spread)
		}
	}
	return p, nil
}

// Predict classifies every record, in time linear in values times classes. A record of another width, or
// with a value that is not finite, is a fault with its position.
func (p *predictor) Predict(_ context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	rows, err := p.reader.Read(block, nil)
	if err != nil {
		return nil, err
	}
	p.Begin(rows.Rows)
	for i := range rows.Rows {
		p.score(rows.Dense.Row(i))
		class, rejected, _ := p.decision.Decide(p.posterior, p.joint)
		p.Add(class, rejected, p.posterior)
		p.Log(p.joint)
	}
	return p.List(), nil
}

// score sets joint to log p(x, y) of each class. If a score
// overflows, it is -MaxFloat64, so a record too far from every class has equal scores.
func (p *predictor) score(x []float32) {
	if p.spread != nil && slices.ContainsFunc(x, missing) {
		p.scorePresent(x)
		return
	}
	for y := range p.joint {
		begin, end := y*len(x), (y+1)*len(x)
		mean, precision := p.mean[begin:end], p.precision[begin:end]
		sum := 0.0
		for j, v := range x {
			d := float64(v) - mean[j]
			sum += float64(float64(d*d) * precision[j])
		}
		p.joint[y] = max(p.constant[y]-float64(0.5*sum), -math.MaxFloat64)
	}
}

func missing(v float32) bool { return v != v }

// scorePresent is score over the numbers that are not missing: the others are left out of the product. Without any, the
// score is log p(y).
func (p *predictor) scorePresent(x []float32) {
	for y := range p.joint {
		constant, sum := p.prior[y], 0.0
		for j, v := range x {
			if missing(v) {
				continue
			}
			at := y*len(x) + j
			d := float64(v) - p.mean[at]
			constant -= p.spread[at]
			sum += float64(float64(d*d) * p.precision[at])
		}
		p.joint[y] = max(constant-float64(0.5*sum), -math.MaxFloat64)
	}
}
