package kernelperceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
)

// state is what one shard hands to the next.
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
	position int64   // shards done in the epoch
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

// Arrays of a state beside those of the machine.
const (
	stateLag      = "lag"
	stateBLag     = "b.lag"
	stateBorn     = "supports.born"
	stateNumber   = "supports.number"
	stateLive     = "live"
	statePosition = "position"
	stateSeen     = "seen"
	stateMistakes = "mistakes" // also in a model
	stateDropped  = "dropped"
	stateEven     = "even"
	stateRadius   = "radius"
	stateGap      = "gap"
	stateNorm     = "norm"
)

func (s *state) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	written := s.machine
	written.votes.place = s.places()
	written.put(a)
	if s.form == formAveraged {
		jobs.Put(a, stateLag, s.lag, s.supports(), s.columns())
		jobs.Put(a, stateBLag, s.bLag)
	}
	jobs.Put(a, stateBorn, s.born)
	jobs.Put(a, stateNumber, s.number)
	jobs.PutScalar(a, stateLive, int64(s.live))
	jobs.PutScalar(a, statePosition, s.position)
	jobs.PutScalar(a, stateSeen, s.seen)
	jobs.Put(a, stateMistakes, s.mistakes)
	jobs.PutScalar(a, stateDropped, s.dropped)
	even := uint8(0)
	if s.even {
		even = 1
	}
	jobs.PutScalar(a, stateEven, even)
	jobs.PutScalar(a, stateRadius, s.radius)
	jobs.PutScalar(a, stateGap, s.gap)
	jobs.PutScalar(a, stateNorm, s.norm)
	s.roads.Put(a, s.kernel)
	return a
}

func readState(a jobs.Arrays) (*state, error) {
	m, err := readMachine(a)
	if err != nil {
		return nil, err
	}
	r := jobs.ArrayReader{Arrays: a}
	s := &state{machine: m, born: jobs.ReadArray[int64](&r, stateBorn, m.supports()), number: jobs.ReadArray[int32](&r, stateNumber, m.supports())}
	if m.form == formAveraged {
		s.lag, s.bLag = jobs.ReadArray[float64](&r, stateLag, m.supports(), m.columns()), jobs.ReadArray[float64](&r, stateBLag, m.columns())
	}
	s.position, s.seen, s.mistakes = jobs.ReadScalar[int64](&r, statePosition), jobs.ReadScalar[int64](&r, stateSeen), jobs.ReadArray[int64](&r, stateMistakes)
	s.dropped, s.even, s.radius = jobs.ReadScalar[int64](&r, stateDropped), jobs.ReadScalar[uint8](&r, stateEven) == 1, jobs.ReadScalar[float64](&r, stateRadius)
	s.gap, s.norm = jobs.ReadScalar[float64](&r, stateGap), jobs.ReadScalar[float64](&r, stateNorm)
	live := jobs.ReadScalar[int64](&r, stateLive)
	switch {
	case r.Err != nil:
		return nil, r.Err
	case len(s.mistakes) == 0:
		return nil, jobs.Malformed("a state before its first epoch")
	case live < 0 || live > int64(m.supports()):
		return nil, jobs.Malformed("%d of %d support vectors", live, m.supports())
	case !permutation(s.number):
		return nil, jobs.Malformed("numbers of support vectors that are not all different")
	}
	if s.roads, err = kernels.ReadRoads(a, s.kernel); err != nil {
		return nil, err
	}
	s.live = int(live)
	s.votes.place = slices.Clone(s.votes.place)
	for i, place := range s.votes.place {
		s.votes.place[i] = s.number[place]
	}
	return s, nil
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
	s.rows, s.ids, s.class = slices.Clone(s.rows), slices.Clone(s.ids), slices.Clone(s.class)
	s.alpha, s.b, s.lag, s.bLag = slices.Clone(s.alpha), slices.Clone(s.b), slices.Clone(s.lag), slices.Clone(s.bLag)
	s.born, s.mistakes, s.votes.survived = slices.Clone(s.born), slices.Clone(s.mistakes), slices.Clone(s.votes.survived)
	s.number = slices.Clone(s.number)
	s.votes.place, s.votes.against, s.votes.step = slices.Clone(s.votes.place), slices.Clone(s.votes.against), slices.Clone(s.votes.step)
}
