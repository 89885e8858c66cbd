package perceptron

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/classify"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/kernelops"
)

// predictor decides by the weights of a model; one goroutine at a time.
type predictor struct {
	*Learner  // its weights are those that decide
	labels    []string
	products  kernelops.Matrix // of dense records and vectors that vote
	workspace kernelops.Workspace
}

// NewPredictor loads a model. One prediction takes time linear in a record's values times the rows of
// weights, or those of all vectors that vote. Bytes that training would not have written are a
// *protocol.Fault of CodeCorrupt.
func NewPredictor(a jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	m.ops, m.weights = ops, m.deciding()
	p := &predictor{Learner: m.Learner, labels: m.space.Labels.List()}
	return m.Reject.Of(classify.NewVectors(m.space, classify.Scored(p.labels, "score"), p.predict))
}

// predict gives each record the label of the greatest score, of equals the first. Each label has a score: <w, x> + b,
// which for two classes is that of the second, and of the first with the other sign; votes where the form votes. The
// value is the score of the label.
func (p *predictor) predict(_ context.Context, list []jobs.Outcome, v features.Vectors) ([]jobs.Outcome, error) {
	scores := make([]float64, v.Rows*p.Classes)
	switch {
	case !p.Form.votes():
		for i := range v.Rows {
			p.rate(recordOf(v, i, 0).Row)
			p.perClass(scores[i*p.Classes:(i+1)*p.Classes], p.scores)
		}
	case p.Sparse:
		p.voteSparse(scores, v)
	default:
		p.voteDense(scores, v.Dense)
	}
	for i := range v.Rows {
		list = append(list, p.outcome(scores[i*p.Classes:(i+1)*p.Classes]))
	}
	return list, nil
}

// perClass sets dst to a score of each class, within float32.
func (p *predictor) perClass(dst []float64, scores []float32) {
	for r, score := range scores {
		dst[r] = bounded(score)
	}
	if p.Rule == Signed {
		dst[0], dst[1] = -dst[0], dst[0]
	}
}

// bounded keeps what overflowed a number: weights are finite, but need not stay it times a record.
func bounded(score float32) float64 {
	switch {
	case score != score:
		return 0
	case score > math.MaxFloat32:
		return math.MaxFloat32
	case score < -math.MaxFloat32:
		return -math.MaxFloat32
	}
	return float64(score)
}

func (p *predictor) outcome(scores []float64) jobs.Outcome {
	best := rank.First(scores)
	return jobs.Outcome{Label: p.labels[best], Value: scores[best], Scores: scores}
}

// voter returns the number of votes that vector k has, and its weights; the last is that of the last weights.
func (p *predictor) voter(k int) (votes float64, weights []float32) {
	weights = p.weights
	if k < p.Learner.votes() {
		weights = p.vectors[k*p.size() : (k+1)*p.size()]
	}
	if p.Form == Unweighted {
		return min(1, float64(p.survived[k])), weights
	}
	return float64(p.survived[k]), weights
}

// vote adds a vector's votes to the class of its scores; the rule Signed has none at 0.
func (p *predictor) vote(dst []float64, scores []float32, votes float64) {
	switch {
	case p.Rule != Signed:
		dst[rank.First(scores)] += votes
	case scores[0] > 0:
		dst[1] += votes
	case scores[0] < 0:
		dst[0] += votes
	}
}

func (p *predictor) voteSparse(dst []float64, v features.Vectors) {
	last := p.weights
	for k := range p.survived {
		votes, weights := p.voter(k)
		p.weights = weights
		for i := range v.Rows {
			p.rate(recordOf(v, i, 0).Row)
			p.vote(dst[i*p.Classes:(i+1)*p.Classes], p.scores, votes)
		}
		p.weights = last
	}
}

// voteTile bounds how many records and rows of weights one product has.
const voteTile = 512

// voteDense multiplies the records with all vectors, some of each at a time.
func (p *predictor) voteDense(dst []float64, x kernelops.Matrix) {
	step := max(1, voteTile/p.rows())
	for from := 0; from < x.Rows; from += voteTile {
		some := x.RowRange(from, min(from+voteTile, x.Rows))
		for k := 0; k < len(p.survived); k += step {
			p.voteTile(dst[from*p.Classes:], some, k, min(k+step, len(p.survived)))
		}
	}
}

func (p *predictor) voteTile(dst []float64, x kernelops.Matrix, from, to int) {
	rows, stride, kept := p.rows(), p.stride(), min(to, p.Learner.votes())
	if from < kept {
		y := kernelops.Matrix{Data: p.vectors[from*p.size() : kept*p.size()], Rows: (kept - from) * rows, Cols: p.Width,
			Stride: stride}
		p.voteProduct(dst, x, y, from)
	}
	if kept < to { // the last weights
		p.voteProduct(dst, x, kernelops.Matrix{Data: p.weights, Rows: rows, Cols: p.Width, Stride: stride}, kept)
	}
}

// voteProduct lets the vectors from number k on vote.
func (p *predictor) voteProduct(dst []float64, x, y kernelops.Matrix, k int) {
	rows := p.rows()
	p.products = kernelops.Matrix{Data: kernelops.Resize(p.products.Data, x.Rows*y.Rows), Rows: x.Rows, Cols: y.Rows,
		Stride: y.Rows}
	p.ops.Dots(p.products, x, y, &p.workspace)
	for i := range x.Rows {
		scores := p.products.Row(i)
		for r := range scores {
			scores[r] += y.Data[r*y.Stride+p.Width]
		}
		for n := range y.Rows / rows {
			votes, _ := p.voter(k + n)
			p.vote(dst[i*p.Classes:(i+1)*p.Classes], scores[n*rows:(n+1)*rows], votes)
		}
	}
}
