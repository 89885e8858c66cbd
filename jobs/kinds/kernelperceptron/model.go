package kernelperceptron

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
)

// model is a trained machine with what is known of its training.
type model struct {
	machine
	mistakes []int64 // of each epoch
	dropped  int64
	radius   float64
	margin   float64 // NaN for none
	bound    float64 // NaN for none
}

// newModel takes over a state at the end of an epoch. In form averaged the coefficients become those
// of the mean: a step s at record t of T is in f after records t to T, hence s - s (t-1) / T.
func newModel(s *state) *model {
	s.own()
	m := &model{machine: s.machine, mistakes: s.mistakes, dropped: s.dropped, radius: s.radius, margin: math.NaN(),
		bound: math.NaN()}
	if s.mistakes[s.epoch()] == 0 {
		m.margin, m.bound = s.separation()
	}
	if s.form == formAveraged {
		seen := float64(s.seen)
		for i, late := range s.lag {
			m.alpha[i] -= late / seen
		}
		for i, late := range s.bLag {
			m.b[i] -= late / seen
		}
	}
	m.votes.place = s.places()
	return m
}

// separation is the margin of a separator, and the bound of Theorem 1.7 on mistakes. Either is NaN where
// there is none; a kernel that is no inner product may leave |w|^2 without a root.
func (s *state) separation() (margin, bound float64) {
	margin, bound = math.NaN(), math.NaN()
	if !(s.norm > 0) || s.dropped > 0 {
		return margin, bound
	}
	margin = s.gap / math.Sqrt(s.norm)
	if !s.even || !s.innerProduct() {
		return margin, bound
	}
	radius, norm, classes := s.radius, s.norm, 2.0
	if s.bias {
		radius++
		for _, b := range s.b {
			norm += float64(b * b)
		}
	}
	if s.columns() == 1 {
		classes = 1
	}
	bound = float64(float64(classes*radius) * (norm / float64(s.gap*s.gap)))
	return margin, bound
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	kernels.KindField(f, KindName, m.kernel, m.byOrdinal(f))
	m.machine.Fields(f)
	jobs.List(f, "mistakes", &m.mistakes)
	jobs.Scalar(f, "dropped", &m.dropped)
	jobs.Scalar(f, "radius", &m.radius) // R^2
	if f.Has("margin", m.margin == m.margin) {
		jobs.Scalar(f, "margin", &m.margin) // missing where no separator was found
	}
	if f.Has("novikoff", m.bound == m.bound) {
		jobs.Scalar(f, "novikoff", &m.bound) // missing where it does not hold
	}
	f.Check(m.check)
}

// readModel reads a model, linear in its bytes; what training would not have written is a
// *protocol.Fault of CodeCorrupt.
func readModel(a jobs.Arrays) (*model, error) {
	return jobs.Read(a, &model{margin: math.NaN(), bound: math.NaN()})
}

// check compares the facts with what training guarantees.
func (m *model) check() error {
	total := int64(0)
	for i, n := range m.mistakes {
		if n < 0 || n > maxCount-total {
			return jobs.Malformed("epoch %d of a model made %d mistakes", i+1, n)
		}
		total += n
	}
	switch {
	case m.supports() == 0 || int64(m.supports()) > total:
		return jobs.Malformed("%d mistakes made %d support vectors", total, m.supports())
	case m.form == formVoted && m.votes.taken() != total:
		return jobs.Malformed("%d mistakes made %d steps", total, m.votes.taken())
	case m.dropped < 0 || m.dropped > total || !(math.Abs(m.radius) <= math.MaxFloat64):
		return jobs.Malformed("a model dropped %d support vectors; its R^2 is %v", m.dropped, m.radius)
	case math.IsInf(m.margin, 0) || m.margin <= 0 || m.bound <= 0:
		return jobs.Malformed("a model has a margin of %v and a bound of %v", m.margin, m.bound)
	}
	return nil
}

// taken is the number of steps but for those that take others back.
func (v votes) taken() (n int64) {
	for _, step := range v.step {
		if step > 0 {
			n++
		}
	}
	return n
}

// total is the number of mistakes.
func (m *model) total() (total int64) {
	for _, n := range m.mistakes {
		total += n
	}
	return total
}

// metrics are the figures of the finished model.
func (m *model) metrics() ([]jobs.Metric, error) {
	var facts jobs.Facts
	facts.Add("train.epochs", len(m.mistakes))
	facts.Add("train.mistakes", m.total())
	facts.Add("train.supports", m.supports())
	facts.Add("train.dropped", m.dropped)
	finite := func(name string, v float64) { // others are not known
		if v-v == 0 {
			facts.Add(name, v)
		}
	}
	finite("train.radius_squared", m.radius)
	finite("train.margin", m.margin)
	finite("train.novikoff_bound", m.bound)
	return facts.Metrics()
}
