package linearmodel

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/dual"
)

// extentNumbers is how many numbers a dual.Extent has.
const extentNumbers = 3

// extentOf is the extent that a list has of machine k.
func extentOf(list []float64, k int) dual.Extent {
	v := list[k*extentNumbers:]
	return dual.Extent{Least: v[0], Shortest: v[1], Longest: v[2]}
}

// addExtent appends an extent.
func addExtent(list []float64, e dual.Extent) []float64 {
	return append(list, e.Least, e.Shortest, e.Longest)
}

// unbounded are margins of which nothing is known; nil for a loss that has none.
func unbounded(loss dual.Loss, machines int) []dual.Margin {
	if !loss.HasMargin() {
		return nil
	}
	list := make([]dual.Margin, machines)
	for k := range list {
		list[k] = dual.Unbounded()
	}
	return list
}

// marginFields lists the bounds on the margins, if the model has them: F64 [machines, 2].
func (m *model) marginFields(f *jobs.Fields) {
	const name = "training.margin"
	if !f.Has(name, m.margins != nil) {
		return
	}
	list := make([]float64, 0, 2*len(m.margins))
	for _, g := range m.margins {
		list = append(list, g.Lo, g.Hi)
	}
	jobs.List(f, name, &list, m.machines(), 2)
	if !f.Reading() {
		return
	}
	f.Require(m.loss.HasMargin(), "a margin with loss %s", m.loss)
	m.margins = make([]dual.Margin, m.machines())
	for k := range m.margins {
		m.margins[k] = dual.Margin{Lo: list[2*k], Hi: list[2*k+1]}
		f.Require(m.margins[k].Valid(), "the margin of machine %d is from %v to %v", k, list[2*k], list[2*k+1])
	}
}

// bound joins the bounds on a machine's margin that a round gives: weights and coefficients of all rounds count.
func (s *training) bound(k int, w, of []float64, all dual.Standing, drift float64) {
	if s.margins == nil {
		return
	}
	s.margins[k] = s.margins[k].Join(dual.Bounds(w, of, all, drift))
	if s.biasScale == 0 && all.Records > 0 && all.Shortest == 0 {
		s.margins[k].Hi = 0 // a row of zeros is on the plane of every machine; squares of float32 are no 0 in float64
	}
}

// marginFacts are the bounds on the margins.
func (m *model) marginFacts(facts *jobs.Facts) {
	for k, g := range m.margins {
		name := "linear.margin."
		if len(m.margins) > 1 {
			name += fmt.Sprintf("%03d.", k)
		}
		facts.Add(name+"lo", g.Lo)
		facts.Add(name+"hi", g.Hi)
	}
}

// marginText tells what the bounds on a margin prove.
func marginText(g dual.Margin) string {
	switch {
	case g.Hi == 0:
		return "not separable: proved exactly"
	case g.Separates():
		return fmt.Sprintf("separable: the largest margin is %.6g to %.6g", g.Lo, g.Hi)
	}
	return fmt.Sprintf("undecided at this budget: no margin above %.3g", g.Hi)
}

// marginSpace says of which space the margin is.
func (m *model) marginSpace() string {
	if m.biasScale == 0 {
		return "through the origin"
	}
	return fmt.Sprintf("with a column of %g for the bias", m.biasScale)
}

// describeMargins writes the bounds on the margins, of the first machines.
func (m *model) describeMargins(p *describe.Page, few int) {
	if m.margins == nil {
		return
	}
	p.Line("margin", "of vectors %s", m.marginSpace())
	for k, g := range m.margins[:min(few, len(m.margins))] {
		if len(m.margins) > 1 {
			p.Text("%s\n  ", describe.Clip(m.machineName(k), describe.Width))
		}
		p.Text("%s\n", marginText(g))
	}
}

// marginFigures are the bounds on the margins as a table.
func (m *model) marginFigures(most int) []jobs.Figure {
	if m.margins == nil {
		return nil
	}
	t := &jobs.FigureTable{Columns: []string{"machine", "at least", "at most", "proved"}}
	for k, g := range m.margins[:min(most, len(m.margins))] {
		t.Rows = append(t.Rows, []string{m.machineName(k), fmt.Sprintf("%.10g", g.Lo), fmt.Sprintf("%.10g", g.Hi),
			marginText(g)})
	}
	return []jobs.Figure{{Title: "Largest margin", Table: t,
		Caption: "The largest margin of all machines, of vectors " + m.marginSpace() + ". A machine that separates " +
			"the classes has one above 0."}}
}
