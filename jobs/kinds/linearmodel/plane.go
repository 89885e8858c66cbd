package linearmodel

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/margin"
)

// planar reports whether the training records are points of a plane, with machines that have a margin.
func (m *model) planar() bool { return m.space.Width == 2 && m.space.Dense() && m.loss.HasMargin() }

// planeFigures draw the first machines over two columns: their planes, which are lines, with both lines of the margin.
func (m *model) planeFigures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	points, err := margin.Points(metrics, metricPrefix)
	if err != nil || points == nil || !m.planar() {
		return nil, err
	}
	var figures []jobs.Figure
	for k := range min(margin.PlaneMachines, m.machines()) {
		figures = append(figures, jobs.Figure{Title: "Margin of " + m.machineName(k),
			Caption: margin.Caption(m.space, len(points)), Scatter: m.plane(k, points)})
	}
	return figures, nil
}

// plane is the picture of a machine, with the records that it is about: the class that it looks for against the others.
func (m *model) plane(k int, points []margin.Point) *jobs.ScatterPlot {
	names := [2]string{m.others(k), string(m.space.Labels.At(m.sought(k)))}
	plot := margin.Plane(k, points, names, func(class int) int {
		switch side := m.side(k, class); {
		case side == 0:
			return -1
		case side > 0:
			return 1
		}
		return 0
	})
	w := m.row(m.weights, k)
	bias := float64(w[2] * m.biasScale)
	if w[0] != 0 || w[1] != 0 {
		plot.Lines = []jobs.StraightLine{{Name: "boundary", A: w[0], B: w[1], C: bias},
			{Name: "margin", A: w[0], B: w[1], C: bias - 1, Dashed: true},
			{Name: "margin", A: w[0], B: w[1], C: bias + 1, Dashed: true}}
	}
	return plot
}
