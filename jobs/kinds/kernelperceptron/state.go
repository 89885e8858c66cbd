package kernelperceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
)

// state is what one block hands to the next.
type state struct {
	machine
	lag  []float64 // of form averaged, as alpha: each step times the records seen before it
	bLag []float64
	born []int64 // of each support vector: how many had come into f with it
	// number of each support vector: how many records were support vectors before it. It stays when
	// the place changes.
	number []int32
	progress
}

// progress counts.
type progress struct {
	position int64   // blocks done in the epoch
	seen     int64   // records, over all epochs
	mistakes []int64 // of each epoch begun
	dropped  int64   // support vectors
	even     bool    // every step was 1
	radius   float64 // R^2: the largest k(x, x)
	// Of the epoch, of use if it makes no mistake: the least gap, and |w|^2 as it adds up over the support vectors.
	gap, norm float64
	roads     kernels.Roads // of the values that decided on a record, over all epochs
}

func (p *progress) epoch() int64 { return int64(len(p.mistakes)) - 1 }

// beginEpoch opens an epoch.
func (p *progress) beginEpoch() {
	p.mistakes = append(p.mistakes, 0)
	p.position, p.gap, p.norm = 0, math.Inf(1), 0
}

// Fields lists the state. The steps' support vectors are stored by place and known by number.
func (s *state) Fields(f *jobs.Fields) {
	stored := s.machine
	if !f.Reading() {
		stored.votes.place = s.places()
	}
	stored.Fields(f)
	if f.Reading() {
		s.machine = stored
	}
	supports, live := s.supports(), s.live
	if s.form == formAveraged {
		jobs.List(f, "lag", &s.lag, supports, s.columns())
		jobs.List(f, "b.lag", &s.bLag, s.columns())
	}
	jobs.List(f, "supports.born", &s.born, supports)
	jobs.List(f, "supports.number", &s.number, supports)
	f.Int("live", &live, 0, supports)
	s.progress.Fields(f)
	s.roads.Fields(f, s.kernel)
	if f.Reading() {
		f.Require(permutation(s.number), "numbers of support vectors that are not all different")
		s.live = live
		s.votes.place = s.numbers()
	}
}

// Fields lists the progress, but for the roads.
func (p *progress) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "position", &p.position)
	jobs.Scalar(f, "seen", &p.seen)
	jobs.List(f, "mistakes", &p.mistakes)
	f.Require(len(p.mistakes) > 0, "a state before its first epoch")
	jobs.Scalar(f, "dropped", &p.dropped)
	jobs.Flag[uint8](f, "even", &p.even)
	jobs.Scalar(f, "radius", &p.radius)
	jobs.Scalar(f, "gap", &p.gap)
	jobs.Scalar(f, "norm", &p.norm)
}

// numbers are those of the steps' support vectors, which are stored by place.
func (s *state) numbers() []int32 {
	of := make([]int32, len(s.votes.place))
	for i, place := range s.votes.place {
		of[i] = s.number[place]
	}
	return of
}

// places are those of the steps, whose support vectors are known by number.
func (s *state) places() []int32 {
	place := make([]int32, len(s.number))
	for i, n := range s.number {
		place[n] = int32(i)
	}
	of := make([]int32, len(s.votes.place))
	for i, n := range s.votes.place {
		of[i] = place[n]
	}
	return of
}

// permutation reports whether a list of n holds each number from 0 to n-1.
func permutation(list []int32) bool {
	seen := make([]bool, len(list))
	for _, n := range list {
		if n < 0 || int(n) >= len(list) || seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

// newState is f = 0 before the first epoch.
func newState(space *features.Space, kernel kernels.Function, params Params) *state {
	s := &state{machine: newMachine(space, kernel, params), progress: progress{even: true}}
	if s.form == formAveraged {
		s.bLag = make([]float64, s.columns())
	}
	s.beginEpoch()
	return s
}

// own copies what learning changes in place.
func (s *state) own() {
	s.rows, s.of, s.class = slices.Clone(s.rows), slices.Clone(s.of), slices.Clone(s.class)
	s.alpha, s.b, s.lag, s.bLag = slices.Clone(s.alpha), slices.Clone(s.b), slices.Clone(s.lag), slices.Clone(s.bLag)
	s.born, s.mistakes, s.votes.survived = slices.Clone(s.born), slices.Clone(s.mistakes),
		slices.Clone(s.votes.survived)
	s.number = slices.Clone(s.number)
	s.votes.place, s.votes.against, s.votes.step = slices.Clone(s.votes.place), slices.Clone(s.votes.against),
		slices.Clone(s.votes.step)
}
