package margin

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
)

func TestText(t *testing.T) {
	for want, m := range map[string]dual.Margin{
		"separable: the largest margin is 0.5 to 1":      {Lo: 0.5, Hi: 1},
		"not separable: proved exactly":                  {},
		"undecided at this budget: no margin above 0.25": {Hi: 0.25},
	} {
		if got := Text(m); got != want {
			t.Errorf("%+v: %s", m, got)
		}
	}
}

// stored makes a list, or what a leaf wrote, arrays.
type stored struct {
	list    List
	written *Written
}

func (s *stored) Fields(f *jobs.Fields) {
	s.list.Fields(f, 2)
	if f.Has("support", s.written != nil) {
		jobs.Make(f, &s.written).Fields(f)
	}
}

func TestBoundsAreRead(t *testing.T) {
	for _, list := range []List{nil, Unbounded(2), {{Lo: 1, Hi: 2}, {}}} {
		var read stored
		_, err := jobs.Read(jobs.ArraysOf(&stored{list: list}), &read)
		if err != nil || !slices.Equal(read.list, list) {
			t.Errorf("%v is read as %v, %v", list, read.list, err)
		}
	}
	for _, list := range []List{{{Lo: 2, Hi: 1}, {}}, {{Lo: -1, Hi: 1}, {}}} {
		var read stored
		if _, err := jobs.Read(jobs.ArraysOf(&stored{list: list}), &read); err == nil {
			t.Errorf("%v is read", list)
		}
	}
}

// A part has a bounded number of rows; the rest is counted, and told.
func TestSupportIsCut(t *testing.T) {
	u := newSupport(dataset.Row, 7, "test", 2, 2)
	for i := range 3 {
		u.Add(i%2, dataset.Identity{Offset: int64(i)}, "b", "b against a", float64(i+1), 0.75)
	}
	table := u.table()
	if table.Rows() != 2 || !slices.Equal(u.count, []int64{2, 1}) ||
		!slices.Equal(table.Names(), []string{"row", "label", "machine", "alpha", "margin", "slack"}) {
		t.Errorf("%d rows of %v: %q", table.Rows(), u.count, table.Names())
	}
	if s := cutSentence(2, 3); !strings.Contains(s, "2 of 3 support vectors") {
		t.Error(s)
	}
}

// What leaves of the last round wrote is joined, with their samples; tallies of two rounds are not.
func TestWritten(t *testing.T) {
	draw := func(class int) *Written {
		u := NewSupport(dataset.Row, 7, "test", 1)
		u.Draw(dataset.ByRow(int64(class)), 1, 2, class, [PlaneMachines]bool{false, true})
		u.Add(0, dataset.ByRow(int64(class)), "a", "b", 1, 1)
		w, err := u.Write(t.Context(), jobs.Leaf{}, false)
		if err != nil {
			t.Fatal(err)
		}
		var read stored
		if _, err := jobs.Read(jobs.ArraysOf(&stored{written: w}), &read); err != nil {
			t.Fatal(err)
		}
		return read.written
	}
	w, err := draw(0).Plus(draw(1))
	if err != nil {
		t.Fatal(err)
	}
	points := planeOf(w.plane)
	if len(points) != 2 || points[0].Class+points[1].Class != 1 || !slices.Equal(points[0].Supports, []int{1}) {
		t.Errorf("%+v", points)
	}
	plot := Plane(1, points, [2]string{"a", "b"}, func(class int) int { return 2 * class })
	if len(plot.Groups[0].X) != 1 || len(plot.Groups[1].X) != 0 || !plot.Groups[0].Marked[0] {
		t.Errorf("%+v", plot)
	}
	var facts jobs.Facts
	if err := (End{Prefix: "x", Machines: 1, Planar: true}).Close(t.Context(), w, nil, &facts); err != nil {
		t.Fatal(err)
	}
	metrics, err := facts.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	if err := jobs.ReadMetric(metrics, "x.support", &count); err != nil || count != 2 {
		t.Errorf("%d support vectors, %v", count, err)
	}
	if read, err := Points(metrics, "x"); err != nil || len(read) != 2 {
		t.Errorf("%+v, %v", read, err)
	}
	if err := (End{Machines: 2}).Close(t.Context(), w, nil, &facts); err == nil {
		t.Error("counts of one machine are taken for those of two")
	}
	if _, err := w.Plus(nil); err == nil {
		t.Error("tallies of two rounds were joined")
	}
}
