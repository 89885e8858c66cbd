package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/kernelops"
)

// planeSteps is how many cells a picture has in each direction; of more support vectors than planeSupports, half.
const (
	planeSteps    = 96
	planeSupports = 1 << 13
)

// planeFigures draw the first machines over two columns, with their boundary and both lines of the margin.
func (m *model) planeFigures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	points, err := margin.Points(metrics, metricPrefix)
	if err != nil || points == nil || !m.planar() {
		return nil, err
	}
	var plots []*jobs.ScatterPlot
	for k := range min(margin.PlaneMachines, len(m.bias)) {
		first, second := m.classes().Pair(k)
		names := [2]string{string(m.space.Labels.At(first)), string(m.space.Labels.At(second))}
		plots = append(plots, margin.Plane(k, points, names, func(class int) int {
			switch class {
			case first:
				return 0
			case second:
				return 1
			}
			return -1
		}))
	}
	var figures []jobs.Figure
	for k, plot := range plots {
		plane{m, k}.addCurves(plot)
		figures = append(figures, jobs.Figure{Title: "Margin of " + m.machineName(k),
			Caption: margin.Caption(m.space, len(points)), Scatter: plot})
	}
	return figures, nil
}

// plane is a machine over two columns.
type plane struct {
	*model
	machine int
}

// addCurves adds the boundary and both lines of the margin. O(support vectors) for each place of a grid.
func (m plane) addCurves(plot *jobs.ScatterPlot) {
	steps := planeSteps
	if m.len() > planeSupports {
		steps /= 2
	}
	grid := margin.GridOf(plot.Groups, steps)
	decide := m.decision()
	for i, p := range grid.Points() {
		v := decide([]float32{float32(p[0]), float32(p[1])})
		if v-v != 0 {
			return
		}
		grid.Set(i, v)
	}
	for _, c := range []struct {
		name   string
		level  float64
		dashed bool
	}{{"boundary", 0, false}, {"margin", -1, true}, {"margin", 1, true}} {
		plot.Curves = append(plot.Curves, grid.Contour(c.name, c.level, c.dashed)...)
	}
}

// decision returns the decision on a row, in float64.
func (m plane) decision() func(row []float32) float64 {
	first, second := m.classes().Pair(m.machine)
	// The values are those of any set.
	exact := kernels.ExactRows{Exact: kernels.Exact{Kernel: m.kernel.Kernel}, Ops: kernelops.Best()}
	values := make([]float64, m.len())
	coefficients := make([]float64, m.len())
	for j, y := range m.class {
		switch int(y) {
		case first:
			coefficients[j] = -m.alpha[j*m.classes().Slots()+m.classes().Slot(first, second)]
		case second:
			coefficients[j] = m.alpha[j*m.classes().Slots()+m.classes().Slot(second, first)]
		}
	}
	return func(row []float32) float64 {
		exact.Values(values, row, m.matrix())
		sum := m.bias[m.machine]
		for j, c := range coefficients {
			sum += float64(c * values[j])
		}
		return sum
	}
}
