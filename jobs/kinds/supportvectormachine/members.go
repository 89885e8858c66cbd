package supportvectormachine

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/kernelops"
)

// member is a record as a variable of one machine.
type member struct {
	class  int32
	cost   float64
	alpha  float64
	target float64   // of f and the bias
	f      float64   // the machine's decision on it, without the bias
	change float64   // what the last step did to alpha
	row    []float32 // as it was read, where it goes with candidates; else nil
}

// candidate is a member with its ordinal, and the value of its violation.
type candidate = smo.Candidate[member]

// members are lists of candidates, one for each machine, as arrays. Their values are target less f.
type members struct {
	machine []int32 // ascending
	ordinal []int64
	class   []int32
	cost    []float64
	alpha   []float64
	target  []float64
	f       []float64
	change  []float64
}

func (m *members) len() int { return len(m.machine) }

// add appends a member of a machine. Machines come in ascending order.
func (m *members) add(machine int, c candidate) {
	v := c.Payload
	m.machine, m.ordinal = append(m.machine, int32(machine)), append(m.ordinal, c.Ordinal)
	m.class, m.cost = append(m.class, v.class), append(m.cost, v.cost)
	m.alpha, m.target, m.f = append(m.alpha, v.alpha), append(m.target, v.target), append(m.f, v.f)
	m.change = append(m.change, v.change)
}

// reserve makes room for more members.
func (m *members) reserve(n int) {
	m.machine, m.ordinal, m.class = slices.Grow(m.machine, n), slices.Grow(m.ordinal, n), slices.Grow(m.class, n)
	m.cost, m.alpha, m.f = slices.Grow(m.cost, n), slices.Grow(m.alpha, n), slices.Grow(m.f, n)
	m.target, m.change = slices.Grow(m.target, n), slices.Grow(m.change, n)
}

// at is a member, without its row.
func (m *members) at(i int) candidate {
	return candidate{Ordinal: m.ordinal[i], Value: m.target[i] - m.f[i], Payload: member{class: m.class[i],
		cost: m.cost[i], alpha: m.alpha[i], target: m.target[i], f: m.f[i], change: m.change[i]}}
}

// of returns the range of the members of a machine.
func (m *members) of(machine int) (from, to int) {
	from, _ = slices.BinarySearch(m.machine, int32(machine))
	to, _ = slices.BinarySearch(m.machine, int32(machine+1))
	return from, to
}

// own gives what a step changes memory that no array shares.
func (m *members) own() {
	m.alpha, m.f, m.change = slices.Clone(m.alpha), slices.Clone(m.f), slices.Clone(m.change)
}

// matrixOf is some rows as a matrix.
func matrixOf(values []float32, rows, width int) kernelops.Matrix {
	return kernelops.Matrix{Data: values, Rows: rows, Cols: width, Stride: width}
}

// Fields lists the members of at most that number of machines and classes.
func (m *members) Fields(f *jobs.Fields, name string, classes machines) {
	jobs.List(f, name+".machine", &m.machine)
	n := len(m.machine)
	jobs.List(f, name+".ordinal", &m.ordinal, n)
	jobs.List(f, name+".class", &m.class, n)
	jobs.List(f, name+".cost", &m.cost, n)
	jobs.List(f, name+".alpha", &m.alpha, n)
	jobs.List(f, name+".target", &m.target, n)
	jobs.List(f, name+".f", &m.f, n)
	jobs.List(f, name+".change", &m.change, n)
	f.Check(func() error { return m.check(name, classes) })
}

func (m *members) check(name string, classes machines) error {
	last := int32(0)
	for i, k := range m.machine {
		if k < last || int(k) >= classes.Machines() {
			return jobs.Malformed("%s %d is of machine %d", name, i, k)
		}
		first, second := classes.Pair(int(k))
		if y := int(m.class[i]); y != first && y != second {
			return jobs.Malformed("%s %d is of class %d, which machine %d has not", name, i, y, k)
		}
		if !(m.alpha[i] >= 0 && m.alpha[i] <= m.cost[i]) || m.f[i]-m.f[i] != 0 ||
			m.target[i]-m.target[i] != 0 {
			return jobs.Malformed("%s %d has a coefficient of %v, of at most %v", name, i, m.alpha[i], m.cost[i])
		}
		last = k
	}
	return nil
}
