package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// standingSums is how many sums a dual.Standing has.
const standingSums = 8

// measures are where the records of leaves stand together, by machine.
type measures struct {
	standings *sums.Exact     // [machines x standingSums]
	violation []float64       // of each machine, the greatest
	records   int64           // of the largest block
	terms     int64           // of the longest row
	extents   []float64       // [machines x extentNumbers]
	written   *margin.Written // nil but in the round after the training
}

// measuresOf are those of one block.
func measuresOf(list []dual.Standing) (measures, error) {
	m := measures{standings: sums.NewExact(standingSums * len(list)), violation: make([]float64, len(list))}
	for k, s := range list {
		err := addAll(m.standings, k*standingSums, s.Loss, s.Slope, s.Bend, s.Linear, s.Size, s.Quadratic,
			s.Reach, s.Steep)
		if err != nil {
			return m, err
		}
		m.violation[k] = s.Violation
		m.records, m.terms = max(m.records, s.Records), max(m.terms, s.Terms)
		if s.Records == 0 {
			s.Extent = dual.NoExtent()
		}
		m.extents = addExtent(m.extents, s.Extent)
	}
	return m, nil
}

// measuresOfLast are those of a leaf after the training: nothing but what it wrote.
func measuresOfLast(w *margin.Written) measures {
	return measures{standings: sums.NewExact(0), written: w}
}

// Fields lists the measures.
func (m *measures) Fields(f *jobs.Fields) {
	jobs.Make(f, &m.standings).Fields(f, "standings")
	jobs.List(f, "violation", &m.violation)
	jobs.Tuple(f, "longest", &m.records, &m.terms)
	jobs.List(f, "extents", &m.extents, len(m.violation), extentNumbers)
	if f.Has("support", m.written != nil) {
		jobs.Make(f, &m.written).Fields(f)
	}
}

// plus joins what two neighbors measured.
func (m *measures) plus(right *measures) (both measures, err error) {
	if len(m.violation) != len(right.violation) {
		return both, jobs.Malformed("tallies of %d and %d machines", len(m.violation), len(right.violation))
	}
	both = measures{violation: make([]float64, len(m.violation)),
		records: max(m.records, right.records), terms: max(m.terms, right.terms)}
	for k := range both.violation {
		both.violation[k] = max(m.violation[k], right.violation[k])
		both.extents = addExtent(both.extents, extentOf(m.extents, k).Join(extentOf(right.extents, k)))
	}
	if both.written, err = m.written.Plus(right.written); err != nil {
		return both, err
	}
	both.standings, err = m.standings.Plus(right.standings)
	return both, err
}

// standing is where all records stand toward one machine.
func (m *measures) standing(machine int) dual.Standing {
	v := func(i int) float64 { return m.standings.Float(machine*standingSums + i) }
	return dual.Standing{Loss: v(0), Slope: v(1), Bend: v(2), Linear: v(3), Size: v(4), Quadratic: v(5),
		Reach: v(6), Steep: v(7), Records: m.records, Terms: m.terms, Violation: m.violation[machine],
		Extent: extentOf(m.extents, machine)}
}

// check refuses measures of another number of machines.
func (m *measures) check(machines int) error {
	if len(m.violation) != machines || m.standings.Len() != standingSums*machines {
		return jobs.Malformed("a tally of %d machines, not %d", len(m.violation), machines)
	}
	return nil
}

// addAll adds numbers to consecutive sums, the first to sum at.
func addAll(to *sums.Exact, at int, values ...float64) error {
	for i, v := range values {
		if v-v != 0 {
			return beyond()
		}
		to.Add(at+i, v)
	}
	return nil
}

// floats returns the sums [from, from+n).
func floats(of *sums.Exact, from, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = of.Float(from + i)
	}
	return list
}

// beyond is the fault of values so large that what is computed of them is no number any more.
func beyond() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the values are too large: sums of their products are beyond float64").
		WithHint("Scale them (params.features.scale: standard), or lower params.C.")
}
