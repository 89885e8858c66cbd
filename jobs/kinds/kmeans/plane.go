package kmeans

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sampling"
)

// Bounds of the picture of records with two columns.
const (
	planePoints   = 400 // records
	planeClusters = 12
	planeShared   = 0.9 // a record is marked if no center has a responsibility as great
	planeMetric   = "kmeans.plane"
)

// planePoint is a training record of two columns, as the centers see it: after scaling.
type planePoint struct {
	X       float32 `json:"x"`
	Y       float32 `json:"y"`
	Cluster int     `json:"cluster"`
	Share   float32 `json:"share"` // the greatest responsibility
}

// draw may choose the rows that were just assigned for the picture; t.plane is nil where there is no picture.
func (t *census) draw(c chunk, near *assigner, soft *responder, race *sampling.Race) {
	if t.plane == nil {
		return
	}
	for i, id := range c.IDs {
		share, row := float32(1), c.X.Row(i)
		if soft != nil {
			share = float32(soft.greatest(i))
		}
		t.plane.Offer(race.Chance(id), id, []float32{row[0], row[1], float32(near.index[i]), share})
	}
}

// greatest is the greatest responsibility of row i.
func (r *responder) greatest(i int) (most float64) {
	_, shares := r.of(i)
	for _, v := range shares {
		most = max(most, v)
	}
	return most
}

// planeOf reads the rows of a sample.
func planeOf(sample *sampling.Sample) ([]planePoint, error) {
	list := []planePoint{}
	for _, d := range sample.Draws() {
		if len(d.Row) != 4 || !(d.Row[2] >= 0 && d.Row[2] < maxK) {
			return nil, jobs.Malformed("a record of the picture has %d numbers", len(d.Row))
		}
		list = append(list, planePoint{d.Row[0], d.Row[1], int(d.Row[2]), d.Row[3]}) //lint:checked below 2^20
	}
	return list, nil
}

// planeFigures is the picture of the records in the metrics; nil without them, and of too many clusters.
func (m *model) planeFigures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	var points []planePoint
	if err := jobs.ReadMetric(metrics, planeMetric, &points); err != nil {
		return nil, err
	}
	if len(points) == 0 || m.clusters() > planeClusters || m.space.Width != 2 {
		return nil, nil
	}
	plot := &jobs.ScatterPlot{X: "column 1", Y: "column 2", Groups: make([]jobs.PointGroup, m.clusters()+1)}
	caption := "Training records by their nearest center, and the centers."
	if m.stiffness > 0 {
		plot.Mark = "shared"
		caption += fmt.Sprintf(" A ring marks records of which no center has a responsibility of %v.", planeShared)
	}
	add := func(group int, x, y float64, marked bool) {
		g := &plot.Groups[group]
		g.X, g.Y, g.Marked = append(g.X, x), append(g.Y, y), append(g.Marked, marked)
	}
	for _, p := range points {
		if p.Cluster < 0 || p.Cluster >= m.clusters() {
			return nil, jobs.Malformed("a record of the picture is in cluster %d of %d", p.Cluster, m.clusters())
		}
		add(p.Cluster, float64(p.X), float64(p.Y), p.Share < planeShared)
	}
	for j := range m.clusters() {
		plot.Groups[j].Name = "cluster " + strconv.Itoa(j)
		if c := m.center(j); math.Abs(c[0])+math.Abs(c[1]) <= maxCenter {
			add(m.clusters(), c[0], c[1], false)
		}
	}
	plot.Groups[m.clusters()].Name, plot.Groups[m.clusters()].Landmark = "centers", true
	if m.space.Records > int64(len(points)) {
		caption += fmt.Sprintf(" %d of %d records, drawn at random.", len(points), m.space.Records)
	}
	if scale := m.space.Scale(); scale != "none" {
		caption += fmt.Sprintf(" Columns are scaled (%s).", scale)
	}
	return []jobs.Figure{{Title: "Records and clusters", Caption: caption, Scatter: plot}}, nil
}
