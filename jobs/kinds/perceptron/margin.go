package perceptron

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// marginPhase looks at the training records once more with the last weights.
type marginPhase struct{ job }

const marginName = "margin"

func (p *marginPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *reach]{
		Name: marginName, State: jobs.Load[state], Partial: func() *reach { return new(reach) },
		Map: p.measure, Merge: (*reach).join, Step: p.finish,
	}.Phase()
}

// reach is what one leaf, or all, say of the last weights. Without records it is that of none.
type reach struct {
	least    []float64 // of each margin row: the least y (<w, x> + b)
	square   float64   // the greatest |x|^2
	low      float64   // the least and the greatest weight of an update
	high     float64
	mistakes int64 // records on which the last weights would make a mistake
}

func (s Setup) marginRows() int {
	if s.Rule == OneVsRest {
		return s.Classes
	}
	return 1
}

func newReach(rows int) *reach {
	r := &reach{least: make([]float64, rows), low: math.Inf(1)}
	for i := range r.least {
		r.least[i] = math.Inf(1)
	}
	return r
}

// measure measures the records of one leaf.
func (p *marginPhase) measure(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*reach, error) {
	s.ops = ops
	extras, _, _ := s.extrasOf(leaf.First(jobs.Input, leaf.Index), leaf.First(jobs.Input, leaf.Index+1))
	all, margins := newReach(s.marginRows()), make([]float32, s.marginRows())
	err := p.records(ctx, s.space, leaf.Numbered(ctx), -1, func(batch []Record) error {
		for _, r := range batch {
			weight := float64(s.weigh(int(r.Class), r.Weight))
			if weight != 0 {
				s.margins(margins, r.Row, int(r.Class))
				margins[0] += float32(float32(sign(int(r.Class))*s.Distinct) * extras[r.ordinal])
				all.add(margins, squareOf(r.Row, ops), weight)
			}
		}
		return nil
	})
	return all, err
}

// margins sets dst to y (<w, x> + b) of each margin row; for argmax it is how far the true class scores
// above the best other.
func (l *Learner) margins(dst []float32, x Row, class int) {
	l.rate(x)
	switch l.Rule {
	case Signed:
		dst[0] = float32(sign(class) * l.scores[0])
	case ArgMax:
		best := float32(math.Inf(-1))
		for r, score := range l.scores {
			if r != class {
				best = max(best, score)
			}
		}
		dst[0] = l.scores[class] - best
	default:
		for r, score := range l.scores {
			dst[r] = -score
		}
		dst[class] = l.scores[class]
	}
}

// add counts one record.
func (r *reach) add(margins []float32, square, weight float64) {
	wrong := false
	for i, m := range margins {
		r.least[i] = min(r.least[i], bounded(m))
		wrong = wrong || !(m > 0)
	}
	if wrong {
		r.mistakes++
	}
	r.square, r.low, r.high = max(r.square, square), min(r.low, weight), max(r.high, weight)
}

// squareOf is |x|^2, in float32 where that holds it.
func squareOf(x Row, ops *kernelops.Set) float64 {
	if square := ops.Dot(x.Values, x.Values); square <= math.MaxFloat32 {
		return float64(square)
	}
	square := 0.0
	for _, v := range x.Values {
		square += float64(float64(v) * float64(v))
	}
	return square
}

// Fields lists the reach.
func (r *reach) Fields(f *jobs.Fields) {
	jobs.List(f, "least", &r.least)
	jobs.Tuple(f, "extremes", &r.square, &r.low, &r.high)
	jobs.Scalar(f, "mistakes", &r.mistakes)
}

// join takes the extremes of two neighbors.
func (r *reach) join(right *reach) (*reach, error) {
	if len(r.least) != len(right.least) {
		return nil, jobs.Malformed("margins of %d and of %d rows", len(r.least), len(right.least))
	}
	both := newReach(len(r.least))
	for i := range both.least {
		both.least[i] = min(r.least[i], right.least[i])
	}
	both.square, both.low, both.high = max(r.square, right.square), min(r.low, right.low), max(r.high, right.high)
	both.mistakes = r.mistakes + right.mistakes
	return both, nil
}

// finish makes the model.
func (p *marginPhase) finish(_ context.Context, s *state, all *reach, round jobs.Round) (jobs.Next, error) {
	if len(all.least) != s.marginRows() || math.IsInf(all.low, 1) {
		return jobs.Next{}, jobs.Malformed("margins of %d rows, not %d", len(all.least), s.marginRows())
	}
	p.conclude(s, all)
	metrics, err := s.metrics(all)
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
}

// conclude sets margin, radius and bound. The radius is that of (x, 1), and (x, 1, D), where the bias and
// distinct are learned.
func (p *marginPhase) conclude(s *state, all *reach) {
	square := all.square + float64(float64(s.Distinct)*float64(s.Distinct))
	if s.Bias {
		square++
	}
	s.radius, s.margin = math.Sqrt(square), make([]float64, len(all.least))
	bound := 0.0
	for i, least := range all.least {
		norm := s.norm(i)
		if norm == 0 {
			continue
		}
		s.margin[i] = least / norm
		if q := s.radius / s.margin[i]; s.margin[i] > 0 {
			bound += float64(q * q)
		}
	}
	if s.Rule == ArgMax {
		bound = float64(2 * bound)
	}
	bound = float64(bound * (all.high / all.low))
	s.bound = 0
	if s.separated && !s.warm && p.Params.Over == overChained && bound < math.Inf(1) {
		s.bound = bound
	}
}

// norm is |(w, b)| of a margin row with what distinct added: that of all rows together for argmax.
func (s *state) norm(i int) float64 {
	weights := s.weights
	if s.Rule == OneVsRest {
		weights = s.rowOf(s.weights, i)
	}
	sum := 0.0
	for _, w := range weights {
		sum += float64(float64(w) * float64(w))
	}
	for _, e := range s.extras {
		sum += float64(float64(e.weight) * float64(e.weight))
	}
	return math.Sqrt(sum)
}

// metrics are the facts of the finished model.
func (s *state) metrics(all *reach) ([]jobs.Metric, error) {
	var facts jobs.Facts
	facts.Add("perceptron.epochs", len(s.epochMistakes))
	facts.Add("perceptron.separated", s.separated)
	facts.Add("perceptron.training_mistakes", all.mistakes)
	facts.Add("perceptron.margin", s.leastMargin())
	facts.Add("perceptron.radius", s.radius)
	if s.bound > 0 {
		facts.Add("perceptron.bound", s.bound)
	}
	if s.Form.votes() {
		facts.Add("perceptron.vectors", s.votes()+1)
		if s.dropped.vectors > 0 {
			facts.Add("perceptron.vectors_dropped", s.dropped.vectors)
			facts.Add("perceptron.votes_dropped", s.dropped.votes)
		}
	}
	return facts.Metrics()
}

func (h *history) leastMargin() float64 {
	least := math.Inf(1)
	for _, m := range h.margin {
		least = min(least, m)
	}
	return least
}
