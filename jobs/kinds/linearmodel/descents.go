package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
)

// newtonState is a training by Newton's method.
type newtonState struct {
	training
	origin  []float64 // weights where the last steps began
	descent []float64 // [machines, 4]: pull, loose, value and slope of a dual.Descent
	backs   []int64   // of each
	scale   float64   // of what the pulls are parts
	moves   []int32   // 1 where the coefficients of the last round are the centers of this
}

// descentNumbers is how many numbers of a dual.Descent are in newtonState.descent.
const descentNumbers = 4

// Fields lists the state.
func (s *newtonState) Fields(f *jobs.Fields) {
	s.training.Fields(f)
	jobs.List(f, "origin", &s.origin, s.machines(), s.stride())
	jobs.List(f, "descent", &s.descent, s.machines(), descentNumbers)
	jobs.List(f, "backs", &s.backs, s.machines())
	jobs.List(f, "moves", &s.moves, s.machines())
	jobs.Scalar(f, "scale", &s.scale)
}

// newNewton begins, warm with weights that are near the best.
func newNewton(t training, warm bool) *newtonState {
	s := &newtonState{training: t, origin: make([]float64, len(t.now)), descent: make([]float64, 0, t.machines()),
		backs: make([]int64, t.machines()), moves: make([]int32, t.machines()), scale: 1}
	d := dual.NewDescent(t.loss.Form)
	if warm {
		d = d.Warm()
	}
	for range t.machines() {
		s.descent = append(s.descent, d.Pull, d.Loose, d.Value, d.Slope)
	}
	return s
}

func (s *newtonState) descentOf(k int) dual.Descent {
	v := s.descent[k*descentNumbers:]
	return dual.Descent{Pull: v[0], Loose: v[1], Value: v[2], Slope: v[3], Backs: s.backs[k]}
}

func (s *newtonState) setDescent(k int, d dual.Descent) {
	copy(s.descent[k*descentNumbers:], []float64{d.Pull, d.Loose, d.Value, d.Slope})
	s.backs[k] = d.Backs
}

// move takes a step of a machine's descent, or ends it where none changes anything.
func (s *newtonState) move(k int, of, triangle []float64, value float64) {
	origin, now, d := s.row(s.origin, k), s.row(s.now, k), s.descentOf(k)
	moves, ended := d.Next(origin, now, of, triangle, value, s.proofs[k].GapUpper)
	s.setDescent(k, d)
	if moves {
		s.moves[k] = 1
	}
	if ended || !jobs.Finite(now) {
		s.done[k] = 1
		copy(now, origin)
	}
}
