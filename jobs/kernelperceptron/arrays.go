package kernelperceptron

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
)

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
	m.kernel.Put(a)
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
	if m.kernel, err = kernels.ReadFunction(a, m.space); err != nil {
		return m, err
	}
	if m.space.Labels.Len() < 2 || m.space.Labels.Len() > maxClasses {
		return m, jobs.Malformed("a kernel perceptron of %d classes", m.space.Labels.Len())
	}
	r := jobs.ArrayReader{Arrays: a}
	m.form, m.bias = r.Text(arrayForm), jobs.ReadScalar[uint8](&r, arrayBias) == 1
	m.class = jobs.ReadArray[int32](&r, arrayClass)
	n, columns := len(m.class), m.columns()
	m.rows, m.alpha = jobs.ReadArray[float32](&r, arrayRows, n, m.space.Width), jobs.ReadArray[float64](&r, arrayAlpha, n, columns)
	m.b = jobs.ReadArray[float64](&r, arrayB, columns)
	m.readIdentities(&r)
	if m.form == formVoted {
		m.votes.place = jobs.ReadArray[int32](&r, votesPlace)
		steps := len(m.votes.place)
		m.votes.against, m.votes.step = jobs.ReadArray[int32](&r, votesAgainst, steps), jobs.ReadArray[float64](&r, votesStep, steps)
		m.votes.survived = jobs.ReadArray[int64](&r, votesSurvived, steps)
	}
	if r.Err != nil {
		return m, r.Err
	}
	m.live = n
	return m, m.check()
}

func (m *machine) readIdentities(r *jobs.ArrayReader) {
	object, offset := jobs.ReadArray[int32](r, arrayObject, len(m.class)), jobs.ReadArray[int64](r, arrayOffset, len(m.class))
	if r.Err != nil {
		return
	}
	names, err := r.Arrays.Strings(arrayObjects)
	if err != nil {
		r.Err = err
		return
	}
	list := names.List()
	m.ids = make([]dataset.Identity, len(object))
	for i, n := range object {
		if n < 0 || int(n) >= len(list) {
			r.Err = jobs.Malformed("support vector %d is of object %d of %d", i, n, len(list))
			return
		}
		m.ids[i] = dataset.Identity{Object: list[n], Offset: offset[i]}
	}
}

// check holds a machine against what training guarantees.
func (m *machine) check() error {
	if !slices.Contains([]string{formAveraged, formPlain, formVoted}, m.form) {
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
		if step := v.step[i]; step == 0 || !(math.Abs(step) <= math.MaxFloat64) || (step > 0) != (v.survived[i] > 0) ||
			v.survived[i] < 0 || v.survived[i] > maxCount {
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
