package margin

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// Bounds of the pictures of machines over two columns.
const (
	planePoints   = 400 // records
	PlaneMachines = 4
)

// planeMetric is the metric that has the records of the picture: a list of Point.
func planeMetric(prefix string) string { return prefix + ".plane" }

// Point is a training record of two columns, as the machines see it: after scaling.
type Point struct {
	X        float32 `json:"x"`
	Y        float32 `json:"y"`
	Class    int     `json:"class"`
	Supports []int   `json:"supports,omitempty"` // machines
}

// Draw may choose a record of two columns for the picture. Which of the first machines it supports is marked.
func (u *Support) Draw(id dataset.Identity, x, y float32, class int, supports [PlaneMachines]bool) {
	u.plane.Offer(u.draws.Chance(id), id, planeRow(x, y, class, supports))
}

// planeRow is a record as the row of a sample: both columns, the class, and 1 for each machine that it supports.
func planeRow(x, y float32, class int, supports [PlaneMachines]bool) []float32 {
	row := append(make([]float32, 0, 3+PlaneMachines), x, y, float32(class))
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
func planeOf(sample *sampling.Sample) []Point {
	list := []Point{}
	for _, d := range sample.Draws() {
		if len(d.Row) != 3+PlaneMachines || !(d.Row[2] >= 0 && d.Row[2] < math.MaxInt32) {
			continue
		}
		p := Point{X: d.Row[0], Y: d.Row[1], Class: int(d.Row[2])} //lint:checked below 2^31
		for k, v := range d.Row[3:] {
			if v == 1 {
				p.Supports = append(p.Supports, k)
			}
		}
		list = append(list, p)
	}
	return list
}

// Points are the records of the picture in a job's metrics; nil of jobs without it.
func Points(metrics []jobs.Metric, prefix string) (list []Point, err error) {
	err = jobs.ReadMetric(metrics, planeMetric(prefix), &list)
	return list, err
}

// Plane is a picture of a machine without its lines: the records of both sides, with a mark on its support vectors.
// Side is 1 or 0 of the class of a record, and another number of one that the machine does not know.
func Plane(machine int, points []Point, names [2]string, side func(class int) int) *jobs.ScatterPlot {
	groups := []jobs.PointGroup{{Name: names[0]}, {Name: names[1]}}
	for _, p := range points {
		s := side(p.Class)
		if s != 0 && s != 1 {
			continue
		}
		g := &groups[s]
		g.X, g.Y = append(g.X, float64(p.X)), append(g.Y, float64(p.Y))
		g.Marked = append(g.Marked, slices.Contains(p.Supports, machine))
	}
	return &jobs.ScatterPlot{X: "column 1", Y: "column 2", Groups: groups, Mark: "support vector"}
}

// Caption tells what a picture shows of the records of a space.
func Caption(space *features.Space, points int) string {
	caption := "Training records, with the line that separates the classes and both lines of the margin. Support " +
		"vectors have a ring."
	if space.Records > int64(points) {
		caption += fmt.Sprintf(" %d of %d records, drawn at random.", points, space.Records)
	}
	if scale := space.Scale(); scale != "none" {
		caption += fmt.Sprintf(" Columns are scaled (%s).", scale)
	}
	return caption
}
