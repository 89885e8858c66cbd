package kernelperceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// state is what one shard hands to the next.
type state struct {
	machine
	lag  []float64 // of form averaged, as alpha: each step times the records seen before it
	bLag []float64
	born []int64 // of each support vector: the mistakes before the one that brought it
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
}

func (p *progress) epoch() int64 { return int64(len(p.mistakes)) - 1 }

// beginEpoch opens an epoch.
func (p *progress) beginEpoch() {
	p.mistakes = append(p.mistakes, 0)
	p.position, p.gap, p.norm = 0, math.Inf(1), 0
}

// Arrays of a machine, in a state and in a model, beside those of the space and the kernel.
const (
	arrayForm     = "form"             // U8 text
	arrayBias     = "bias"             // U8 scalar: 0 or 1
	arrayRows     = "supports"         // F32 [supports, width], scaled
	arrayClass    = "supports.class"   // I32 [supports]: numbers of labels
	arrayObject   = "supports.object"  // I32 [supports]: numbers of objects
	arrayOffset   = "supports.offset"  // I64 [supports]
	arrayObjects  = "supports.objects" // the names of their objects
	arrayAlpha    = "alpha"            // F64 [supports, columns]
	arrayB        = "b"                // F64 [columns]
	votesPlace    = "votes.place"      // I32 [steps], of form voted
	votesAgainst  = "votes.against"    // I32 [steps]
	votesStep     = "votes.step"       // F64 [steps]
	votesSurvived = "votes.survived"   // I64 [steps]
)

func (m *machine) put(a jobs.Arrays) {
	m.space.Put(a)
	kernels.Put(a, m.kernel)
	a.PutText(arrayForm, m.form)
	bias := uint8(0)
	if m.bias {
		bias = 1
	}
	jobs.PutScalar(a, arrayBias, bias)
	jobs.Put(a, arrayRows, m.rows, m.supports(), m.space.Width)
	jobs.Put(a, arrayClass, m.class)
	m.putIdentities(a)
	jobs.Put(a, arrayAlpha, m.alpha, m.supports(), m.columns())
	jobs.Put(a, arrayB, m.b)
	if m.form == formVoted {
		jobs.Put(a, votesPlace, m.votes.place)
		jobs.Put(a, votesAgainst, m.votes.against)
		jobs.Put(a, votesStep, m.votes.step)
		jobs.Put(a, votesSurvived, m.votes.survived)
	}
}

// putIdentities writes each name of an object once, in the order of their first support vectors.
func (m *machine) putIdentities(a jobs.Arrays) {
	var names jobs.Strings
	number := map[string]int32{}
	object, offset := make([]int32, len(m.ids)), make([]int64, len(m.ids))
	for i, id := range m.ids {
		n, ok := number[id.Object]
		if !ok {
			n = int32(len(number))
			number[id.Object] = n
			names.Append([]byte(id.Object))
		}
		object[i], offset[i] = n, id.Offset
	}
	jobs.Put(a, arrayObject, object)
	jobs.Put(a, arrayOffset, offset)
	a.PutStrings(arrayObjects, names)
}

// readMachine reads what put wrote, in time and memory linear in its bytes. The arrays
// are shared.
func readMachine(a jobs.Arrays) (m machine, err error) {
	if m.space, err = features.ReadSpace(a); err != nil {
		return m, err
	}
	if m.kernel, err = kernels.Read(a); err != nil {
		return m, err
	}
	if m.space.Labels.Len() < 2 || m.space.Labels.Len() > maxClasses {
		return m, jobs.Malformed("a kernel perceptron of %d classes", m.space.Labels.Len())
	}
	r := arrayReader{arrays: a}
	m.form, m.bias = r.text(arrayForm), getScalar[uint8](&r, arrayBias) == 1
	m.class = get[int32](&r, arrayClass)
	n, columns := len(m.class), m.columns()
	m.rows, m.alpha = get[float32](&r, arrayRows, n, m.space.Width), get[float64](&r, arrayAlpha, n, columns)
	m.b = get[float64](&r, arrayB, columns)
	m.readIdentities(&r)
	if m.form == formVoted {
		m.votes.place = get[int32](&r, votesPlace)
		steps := len(m.votes.place)
		m.votes.against, m.votes.step = get[int32](&r, votesAgainst, steps), get[float64](&r, votesStep, steps)
		m.votes.survived = get[int64](&r, votesSurvived, steps)
	}
	if r.err != nil {
		return m, r.err
	}
	return m, m.check()
}

func (m *machine) readIdentities(r *arrayReader) {
	object, offset := get[int32](r, arrayObject, len(m.class)), get[int64](r, arrayOffset, len(m.class))
	if r.err != nil {
		return
	}
	names, err := r.arrays.Strings(arrayObjects)
	if err != nil {
		r.err = err
		return
	}
	list := names.List()
	m.ids = make([]dataset.Identity, len(object))
	for i, n := range object {
		if n < 0 || int(n) >= len(list) {
			r.err = jobs.Malformed("support vector %d is of object %d of %d", i, n, len(list))
			return
		}
		m.ids[i] = dataset.Identity{Object: list[n], Offset: offset[i]}
	}
}

// check holds a machine against what training guarantees.
func (m *machine) check() error {
	if oneOf("form", m.form, formAveraged, formPlain, formVoted) != nil {
		return jobs.Malformed("a kernel perceptron of form %q", m.form)
	}
	classes := int32(m.space.Labels.Len())
	for i, y := range m.class {
		if y < 0 || y >= classes {
			return jobs.Malformed("support vector %d is of class %d of %d", i, y, classes)
		}
	}
	if !allFinite(m.rows) || !allFinite(m.alpha) || !allFinite(m.b) {
		return jobs.Malformed("a kernel perceptron has values that are not finite")
	}
	return m.votes.check(m.class, classes)
}

func (v votes) check(class []int32, classes int32) error {
	for i, place := range v.place {
		if place < 0 || int(place) >= len(class) || v.against[i] < 0 || v.against[i] >= classes || v.against[i] == class[place] {
			return jobs.Malformed("step %d is of support vector %d against class %d", i, place, v.against[i])
		}
		if !(v.step[i] > 0 && v.step[i] <= math.MaxFloat64) || v.survived[i] < 1 || v.survived[i] > maxCount {
			return jobs.Malformed("step %d is by %v and survived %d records", i, v.step[i], v.survived[i])
		}
	}
	return nil
}

// maxCount keeps counts exact in float64.
const maxCount = 1 << 40

func allFinite[T float32 | float64](list []T) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return v-v != 0 })
}

// Arrays of a state beside those of the machine.
const (
	stateLag      = "lag"
	stateBLag     = "b.lag"
	stateBorn     = "supports.born"
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
	s.put(a)
	if s.form == formAveraged {
		jobs.Put(a, stateLag, s.lag, s.supports(), s.columns())
		jobs.Put(a, stateBLag, s.bLag)
	}
	jobs.Put(a, stateBorn, s.born)
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
	return a
}

func readState(a jobs.Arrays) (*state, error) {
	m, err := readMachine(a)
	if err != nil {
		return nil, err
	}
	r := arrayReader{arrays: a}
	s := &state{machine: m, born: get[int64](&r, stateBorn, m.supports())}
	if m.form == formAveraged {
		s.lag, s.bLag = get[float64](&r, stateLag, m.supports(), m.columns()), get[float64](&r, stateBLag, m.columns())
	}
	s.position, s.seen, s.mistakes = getScalar[int64](&r, statePosition), getScalar[int64](&r, stateSeen), get[int64](&r, stateMistakes)
	s.dropped, s.even, s.radius = getScalar[int64](&r, stateDropped), getScalar[uint8](&r, stateEven) == 1, getScalar[float64](&r, stateRadius)
	s.gap, s.norm = getScalar[float64](&r, stateGap), getScalar[float64](&r, stateNorm)
	if r.err == nil && len(s.mistakes) == 0 {
		r.err = jobs.Malformed("a state before its first epoch")
	}
	return s, r.err
}

// newState is f = 0 before the first epoch.
func newState(space *features.Space, kernel kernelops.Kernel, params Params) *state {
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
	s.votes.place, s.votes.against, s.votes.step = slices.Clone(s.votes.place), slices.Clone(s.votes.against), slices.Clone(s.votes.step)
}

// arrayReader reads arrays until one fails.
type arrayReader struct {
	arrays jobs.Arrays
	err    error
}

func get[T jobs.Element](r *arrayReader, name string, shape ...int) []T {
	if r.err != nil {
		return nil
	}
	var list []T
	list, r.err = jobs.Get[T](r.arrays, name, shape...)
	return list
}

func getScalar[T jobs.Element](r *arrayReader, name string) (v T) {
	if r.err == nil {
		v, r.err = jobs.GetScalar[T](r.arrays, name)
	}
	return v
}

func (r *arrayReader) text(name string) (text string) {
	if r.err == nil {
		text, r.err = r.arrays.Text(name)
	}
	return text
}
