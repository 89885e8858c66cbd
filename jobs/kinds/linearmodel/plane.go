package linearmodel

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// Bounds of the picture of machines over two columns.
const (
	planePoints   = 400 // records
	planeMachines = 4
)

// planeMetric is the metric that has the records of the picture: a list of point.
const planeMetric = "linear.plane"

// point is a training record of two columns, as the machines see it: after scaling.
type point struct {
	X        float32 `json:"x"`
	Y        float32 `json:"y"`
	Class    int     `json:"class"`
	Supports []int   `json:"supports,omitempty"` // machines
}

// planar reports whether the training records are points of a plane, with machines that have a margin.
func (m *model) planar() bool { return m.space.Width == 2 && m.space.Dense() && m.loss.HasMargin() }

// planePoint is a record as the row of a sample: both columns, the class, and 1 for each machine that it supports.
func planePoint(r *record, supports [planeMachines]bool) []float32 {
	row := append(make([]float32, 0, 3+planeMachines), r.Values[0], r.Values[1], float32(r.class))
	for _, yes := range supports {
		if yes {
			row = append(row, 1)
		} else {
			row = append(row, 0)
		}
	}
	return row
}

// planeOf reads the rows of a sample.
func planeOf(sample *sampling.Sample) []point {
	list := []point{}
	for _, d := range sample.Draws() {
		if len(d.Row) != 3+planeMachines || !(d.Row[2] >= 0 && d.Row[2] < math.MaxInt32) {
			continue
		}
		p := point{X: d.Row[0], Y: d.Row[1], Class: int(d.Row[2])} //lint:checked below 2^31
		for k, v := range d.Row[3:] {
			if v == 1 {
				p.Supports = append(p.Supports, k)
			}
		}
		list = append(list, p)
	}
	return list
}

// planeFigures draw the first machines over two columns: their planes, which are lines, with both lines of the margin.
func (m *model) planeFigures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	var points []point
	if err := jobs.ReadMetric(metrics, planeMetric, &points); err != nil || points == nil || !m.planar() {
		return nil, err
	}
	var figures []jobs.Figure
	for k := range min(planeMachines, m.machines()) {
		caption := "Training records, with the line that separates the classes and both lines of the margin. Support " +
			"vectors have a ring."
		if m.space.Records > int64(len(points)) {
			caption += fmt.Sprintf(" %d of %d records, drawn at random.", len(points), m.space.Records)
		}
		if scale := m.space.Scale(); scale != "none" {
			caption += fmt.Sprintf(" Columns are scaled (%s).", scale)
		}
		figures = append(figures, jobs.Figure{Title: "Margin of " + m.machineName(k), Caption: caption,
			Scatter: m.plane(k, points)})
	}
	return figures, nil
}

// plane is the picture of a machine, with the records that it is about: the class that it looks for against the others.
func (m *model) plane(k int, points []point) *jobs.ScatterPlot {
	groups := []jobs.PointGroup{{Name: m.others(k)}, {Name: string(m.space.Labels.At(m.sought(k)))}}
	for _, p := range points {
		side := m.side(k, p.Class)
		if side == 0 {
			continue
		}
		g := &groups[0]
		if side > 0 {
			g = &groups[1]
		}
		marked := false
		for _, machine := range p.Supports {
			marked = marked || machine == k
		}
		g.X, g.Y, g.Marked = append(g.X, float64(p.X)), append(g.Y, float64(p.Y)), append(g.Marked, marked)
	}
	plot := &jobs.ScatterPlot{X: "column 1", Y: "column 2", Groups: groups, Mark: "support vector"}
	w := m.row(m.weights, k)
	bias := float64(w[2] * m.biasScale)
	if w[0] != 0 || w[1] != 0 {
		plot.Lines = []jobs.StraightLine{{Name: "boundary", A: w[0], B: w[1], C: bias},
			{Name: "margin", A: w[0], B: w[1], C: bias - 1, Dashed: true},
			{Name: "margin", A: w[0], B: w[1], C: bias + 1, Dashed: true}}
	}
	return plot
}
