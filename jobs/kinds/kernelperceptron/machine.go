package kernelperceptron

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/kernelops"
)

// machine is the decision function: support vectors in numbered places, and their coefficients. While it learns, only
// those before live are in f; the others are retired, with coefficients of 0.
type machine struct {
	space  *features.Space
	kernel kernels.Function
	form   string
	bias   bool

	rows  []float32          // support vectors, places x width, as they were read
	held  kernels.Held       // what the kernel needs of them, from newLearner or newPredictor on
	of    []int64            // the ordinals of their records; below 0 of corrections
	named []dataset.Identity // in place of of, in models of earlier releases
	class []int32            // the classes of the records
	alpha []float64          // places x columns
	b     []float64          // columns; zeros without bias
	live  int                // places that f sums over
	votes votes              // of form voted

	reject evaluation.Rejection
}

// votes are the steps that made f, in order, and how many records each f survived. A support vector that a budget
// drops takes its steps back, by one below 0 for each class that lost to its own; the f in between has no votes.
type votes struct {
	place    []int32   // the support vector of a step, whose class gains; its number while it learns
	against  []int32   // the class that loses
	step     []float64 // not 0
	survived []int64   // from 1, and 0 where the step is below 0
}

// stepBytes are those of a step.
const stepBytes = 4 + 4 + 8 + 8

func (v *votes) add(place int32, against int, step float64, survived int64) {
	v.place, v.against = append(v.place, place), append(v.against, int32(against))
	v.step, v.survived = append(v.step, step), append(v.survived, survived)
}

func newMachine(space *features.Space, kernel kernels.Function, params Params) machine {
	m := machine{space: space, kernel: kernel, form: params.Form, bias: params.Bias, reject: params.RejectBelow}
	m.b = make([]float64, m.columns())
	return m
}

// columns is the number of functions: one for two classes, else one for each.
func (m *machine) columns() int {
	if n := m.space.Labels.Len(); n != 2 {
		return n
	}
	return 1
}

func (m *machine) supports() int { return len(m.class) }

// matrix is the support vectors as points.
func (m *machine) matrix() kernelops.Matrix {
	return kernelops.Matrix{Data: m.rows, Rows: m.supports(), Cols: m.space.Width, Stride: m.space.Width}
}

// points are the support vectors that f sums over, as the kernel takes them.
func (m *machine) points() *kernels.Points {
	return m.held.Points(m.kernel, m.matrix().RowRange(0, m.live))
}

// innerProduct reports whether the kernel is one for certain: positive semidefinite.
func (m *machine) innerProduct() bool {
	k := m.kernel
	return k.Kind == kernelops.Linear || k.Kind == kernelops.RBF || k.Kind == kernelops.Polynomial && k.Scale > 0 &&
		k.Offset >= 0
}

// decide is the class of the largest function, the first of equal ones; of two classes the
// second where f > 0.
func decide(f []float64) int {
	if len(f) == 1 {
		if f[0] > 0 {
			return 1
		}
		return 0
	}
	return rank.First(f)
}

// rival is the class that stands most against a record of a class, the first of equal ones, and
// the gap to it: above 0 where the record is right.
func rival(f []float64, class int) (against int, gap float64) {
	if len(f) == 1 {
		if class == 1 {
			return 0, f[0]
		}
		return 1, -f[0]
	}
	against = -1
	for y, v := range f {
		if y != class && (against < 0 || v > f[against]) {
			against = y
		}
	}
	return against, f[class] - f[against]
}

// change adds a step to a row of columns: up for a class, down for the one against it.
func change(row []float64, class, against int, step float64) {
	if len(row) > 1 {
		row[class] += step
		row[against] -= step
		return
	}
	if class == 0 {
		step = -step
	}
	row[0] += step
}

// Fields lists a machine. The arrays are shared.
func (m *machine) Fields(f *jobs.Fields) {
	jobs.Make(f, &m.space).Fields(f)
	m.kernel.Fields(f, m.space)
	f.Require(m.space.Labels.Len() >= 2 && m.space.Labels.Len() <= maxClasses,
		"a kernel perceptron of %d classes", m.space.Labels.Len())
	f.Choice("form", &m.form, formAveraged, formPlain, formVoted)
	jobs.Flag[uint8](f, "bias", &m.bias)
	m.reject.Fields(f)
	jobs.List(f, "supports.class", &m.class)
	n, columns := len(m.class), m.columns()
	jobs.List(f, "supports", &m.rows, n, m.space.Width)
	jobs.List(f, "alpha", &m.alpha, n, columns)
	jobs.List(f, "b", &m.b, columns)
	if m.byOrdinal(f) {
		jobs.List(f, arrayRecord, &m.of, n) // ordinals of their records; below 0 of corrections
	} else {
		m.identityFields(f)
	}
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

// arrayRecord is the array of a model or state that knows the records of the support vectors by ordinal.
const arrayRecord = "supports.record"

func (m *machine) byOrdinal(f *jobs.Fields) bool { return f.Has(arrayRecord, m.named == nil) }

// identityFields are the identities of the support vectors in a model of an earlier release: each name of an object
// once, in the order of their first support vectors.
func (m *machine) identityFields(f *jobs.Fields) {
	var names jobs.Strings
	number := map[string]int32{}
	object, offset := make([]int32, len(m.named)), make([]int64, len(m.named))
	for i, id := range m.named {
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
	m.named = make([]dataset.Identity, len(object))
	for i, n := range object {
		f.Require(n >= 0 && int(n) < len(list), "support vector %d is of object %d of %d", i, n, len(list))
		m.named[i] = dataset.Identity{Object: list[n], Offset: offset[i]}
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
