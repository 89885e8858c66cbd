package margin

import (
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/dual"
)

// List is the bounds on the largest margin of each machine; nil where they are not known.
type List []dual.Margin

// Unbounded are machines of which nothing is known.
func Unbounded(machines int) List {
	list := make(List, machines)
	for k := range list {
		list[k] = dual.Unbounded()
	}
	return list
}

// fieldName is an array of a model that has the bounds.
const fieldName = "training.margin"

// Fields lists the bounds as "training.margin", F64 [machines, 2], if there are any.
func (l *List) Fields(f *jobs.Fields, machines int) {
	if !f.Has(fieldName, *l != nil) {
		return
	}
	list := make([]float64, 0, 2*len(*l))
	for _, m := range *l {
		list = append(list, m.Lo, m.Hi)
	}
	jobs.List(f, fieldName, &list, machines, 2)
	if !f.Reading() {
		return
	}
	*l = make(List, machines)
	for k := range *l {
		m := dual.Margin{Lo: list[2*k], Hi: list[2*k+1]}
		f.Require(m.Valid(), "the margin of machine %d is from %v to %v", k, m.Lo, m.Hi)
		(*l)[k] = m
	}
}

// Facts adds the bounds as metrics: "<prefix>.margin.lo" and ".hi", of several machines each with its number before.
func (l List) Facts(facts *jobs.Facts, prefix string) {
	for k, m := range l {
		name := prefix + ".margin."
		if len(l) > 1 {
			name += fmt.Sprintf("%03d.", k)
		}
		facts.Add(name+"lo", m.Lo)
		facts.Add(name+"hi", m.Hi)
	}
}

// Text tells what the bounds on a margin prove.
func Text(m dual.Margin) string {
	switch {
	case m.Hi == 0:
		return "not separable: proved exactly"
	case m.Separates():
		return fmt.Sprintf("separable: the largest margin is %.6g to %.6g", m.Lo, m.Hi)
	}
	return fmt.Sprintf("undecided at this budget: no margin above %.3g", m.Hi)
}

// Machines are the names of machines, and the space that their margins are in, as in "of vectors through the origin".
type Machines struct {
	Space string
	Name  func(machine int) string
}

// Describe writes the bounds of the first machines.
func (l List) Describe(p *describe.Page, of Machines, few int) {
	if l == nil {
		return
	}
	p.Line("margin", "%s", of.Space)
	for k, m := range l[:min(few, len(l))] {
		if len(l) > 1 {
			p.Text("%s\n  ", describe.Clip(of.Name(k), describe.Width))
		}
		p.Text("%s\n", Text(m))
	}
}

// Figures are the bounds of the first machines as a table.
func (l List) Figures(of Machines, most int) []jobs.Figure {
	if l == nil {
		return nil
	}
	t := &jobs.FigureTable{Columns: []string{"machine", "at least", "at most", "proved"}}
	for k, m := range l[:min(most, len(l))] {
		t.Rows = append(t.Rows, []string{of.Name(k), fmt.Sprintf("%.10g", m.Lo), fmt.Sprintf("%.10g", m.Hi), Text(m)})
	}
	return []jobs.Figure{{Title: "Largest margin", Table: t,
		Caption: "The largest margin of all machines, " + of.Space + ". A machine that separates the classes has one " +
			"above 0."}}
}
