package linearmodel

import (
	"fmt"

	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/protocol"
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

// needMargin refuses outputs about margins for a loss that has none.
func (p *Params) needMargin() error {
	if p.Asked() && !p.loss().HasMargin() {
		return protocol.SpecFault("margin or support_vectors is true with loss %s, which has no margin", p.Loss).
			WithHint("Take loss: hinge or squared_hinge, or leave margin and support_vectors out.")
	}
	return nil
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

// marginMachines are the machines whose margins are told.
func (m *model) marginMachines() margin.Machines {
	space := "of vectors through the origin"
	if m.biasScale != 0 {
		space = fmt.Sprintf("of vectors with a column of %g for the bias", m.biasScale)
	}
	return margin.Machines{Space: space, Name: m.machineName}
}
