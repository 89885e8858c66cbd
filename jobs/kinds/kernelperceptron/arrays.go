package kernelperceptron

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Fields lists a machine. The arrays are shared.
func (m *machine) Fields(f *jobs.Fields) {
	jobs.Make(f, &m.space).Fields(f)
	m.kernel.Fields(f, m.space)
	f.Require(m.space.Labels.Len() >= 2 && m.space.Labels.Len() <= maxClasses,
		"a kernel perceptron of %d classes", m.space.Labels.Len())
	f.Choice("form", &m.form, formAveraged, formPlain, formVoted)
	jobs.Flag[uint8](f, "bias", &m.bias)
	jobs.List(f, "supports.class", &m.class)
	n, columns := len(m.class), m.columns()
	jobs.List(f, "supports", &m.rows, n, m.space.Width)
	jobs.List(f, "alpha", &m.alpha, n, columns)
	jobs.List(f, "b", &m.b, columns)
	m.identityFields(f)
	if m.form == formVoted {
		jobs.List(f, "votes.place", &m.votes.place)
		steps := len(m.votes.place)
		jobs.List(f, "votes.against", &m.votes.against, steps)
		jobs.List(f, "votes.step", &m.votes.step, steps)
		jobs.List(f, "votes.survived", &m.votes.survived, steps)
	}
	if f.Reading() {
		m.live = n
	}
	f.Check(m.check)
}

// identityFields are the identities of the support vectors: each name of an object once, in the order of their first
// support vectors.
func (m *machine) identityFields(f *jobs.Fields) {
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
	jobs.List(f, "supports.object", &object, len(m.class)) // numbers of objects
	jobs.List(f, "supports.offset", &offset, len(m.class))
	f.Strings("supports.objects", &names) // the names of their objects
	if !f.Reading() {
		return
	}
	list := names.List()
	m.ids = make([]dataset.Identity, len(object))
	for i, n := range object {
		f.Require(n >= 0 && int(n) < len(list), "support vector %d is of object %d of %d", i, n, len(list))
		m.ids[i] = dataset.Identity{Object: list[n], Offset: offset[i]}
	}
}

// check compares a machine with what training guarantees.
func (m *machine) check() error {
	classes := int32(m.space.Labels.Len())
	for i, y := range m.class {
		if y < 0 || y >= classes {
			return jobs.Malformed("support vector %d is of class %d of %d", i, y, classes)
		}
	}
	if !jobs.Finite(m.rows) || !jobs.Finite(m.alpha) || !jobs.Finite(m.b) {
		return jobs.Malformed("a kernel perceptron has values that are not finite")
	}
	return m.votes.check(m.class, classes)
}

func (v votes) check(class []int32, classes int32) error {
	for i, place := range v.place {
		if place < 0 || int(place) >= len(class) || v.against[i] < 0 || v.against[i] >= classes ||
			v.against[i] == class[place] {
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
