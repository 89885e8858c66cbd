package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// drawnOf draws a figure.
func drawnOf(t *testing.T, f jobs.Figure) string {
	t.Helper()
	svg, err := draw(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

// classes are labels of that many classes, as long as they are.
func numbered(n int, label string) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint(label, i))
	}
	return keys
}

// heatOf is a matrix with some confusions beside its diagonal.
func heatOf(n int, label string) *jobs.HeatMap {
	h := &jobs.HeatMap{Rows: "truth", Columns: "decision", RowKeys: numbered(n, label), ColKeys: numbered(n, label),
		Counts: make([]int64, n*n)}
	for i := range n {
		h.Counts[i*n+i] = 1000 * int64(i+1)
		h.Counts[i*n+(i+1)%n] += int64(7*i + 1)
	}
	return h
}

// pictures are figures of every sort, with short names and with long ones.
func pictures() (list []jobs.Figure) {
	long := strings.Repeat("a long name ", 6)
	for _, name := range []string{"a", long} {
		var lines []jobs.Series
		for i := range looks {
			lines = append(lines, jobs.Series{Name: fmt.Sprint(name, i), X: []float64{1, 2, 3},
				Y: []float64{1e6, 8e5 + float64(i), math.NaN()}})
		}
		lines = append(lines, jobs.Series{Name: name, X: []float64{1, 3}, Y: []float64{9e5, 9e5}, Reference: true})
		group := jobs.PointGroup{Name: name, X: []float64{-1e6, 2e6}, Y: []float64{0, 1}, Marked: []bool{false, true}}
		list = append(list,
			jobs.Figure{Title: name, Lines: &jobs.LineChart{X: name, Y: name, Series: lines, Decades: true}},
			jobs.Figure{Title: name, Lines: &jobs.LineChart{X: name, Y: name, Series: lines[:1], UnitX: true,
				UnitY: true}},
			jobs.Figure{Title: name, Histogram: &jobs.Histogram{X: name, Y: name, Edges: []float64{-1, 0, 1},
				Groups: []jobs.BinGroup{{Name: name, Values: []float64{0.5, 0.5}},
					{Name: "b", Values: []float64{0, 1}}}, Zero: true}},
			jobs.Figure{Title: name, Scatter: &jobs.ScatterPlot{X: name, Y: name, Mark: name,
				Groups: []jobs.PointGroup{group, {Name: "b"}},
				Lines:  []jobs.StraightLine{{Name: name, A: 1, C: -0.5}}}},
			jobs.Figure{Title: name, Images: []jobs.Image{{Label: name, Width: 2, Values: make([]float32, 4)},
				{Label: "b", Width: 2, Values: make([]float32, 4)}}},
			jobs.Figure{Title: name, Images: []jobs.Image{{Label: name, Width: 2, Values: make([]float32, 4)}}})
		for _, n := range []int{1, 2, 3, 10, 11, 12, 20, 45, 60, 70} {
			list = append(list, jobs.Figure{Title: name, Heat: heatOf(n, name)})
		}
	}
	return list
}

var (
	viewBox  = regexp.MustCompile(`viewBox="0 0 ([\d.]+) ([\d.]+)" class="(\w+)" role="img"`)
	textTag  = regexp.MustCompile(`<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)" class="[\w ]+">([^<]*)</text>`)
	turned   = regexp.MustCompile(`<text transform="translate\(([-\d.]+) ([-\d.]+)\) rotate\(-90\)" class="ink">([^<]*)</text>`)
	number   = func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	leastPix = map[string]float64{chartClass: 390 - 32, wideClass: 37 * 16}
)

// Every picture says what it is to those who do not see it, keeps its texts within its bounds and, on a telephone of
// 390 pixels, at 10 pixels or more, and takes all its colors from the sheet or its own attributes.
func TestPicturesAreRead(t *testing.T) {
	for i, f := range pictures() {
		svg := drawnOf(t, f)
		head := viewBox.FindStringSubmatch(svg)
		if head == nil {
			t.Fatalf("picture %d: %.300s", i, svg)
		}
		width, height, class := number(head[1]), number(head[2]), head[3]
		if size := 13 * leastPix[class] / width; size < 10 {
			t.Errorf("picture %d: texts of %.1f pixels", i, size)
		}
		for _, unwanted := range []string{"style=", "<script", "small", "NaN", "Inf"} {
			if strings.Contains(svg, unwanted) {
				t.Errorf("picture %d has %s", i, unwanted)
			}
		}
		if !strings.Contains(svg, "<title>"+strings.TrimSpace(f.Title)) || !strings.Contains(svg, "<desc>") {
			t.Errorf("picture %d does not say what it is: %.300s", i, svg)
		}
		for _, m := range textTag.FindAllStringSubmatch(svg, -1) {
			from, wide := number(m[1]), 0.93*widthOf(m[4]) // charWidth is on the safe side
			switch m[3] {
			case "middle":
				from -= wide / 2
			case "end":
				from -= wide
			}
			if y := number(m[2]); from < -3 || from+wide > width+3 || y < 9 || y > height {
				t.Errorf("picture %d of %v x %v: %q from %v to %v, at %v", i, width, height, m[4], from, from+wide, y)
			}
		}
		for _, m := range turned.FindAllStringSubmatch(svg, -1) {
			if y := number(m[2]); y-0.93*widthOf(m[3]) < 16 || number(m[1]) > width {
				t.Errorf("picture %d: %q is cut at the top or the side", i, m[3])
			}
		}
		if err := xml.Unmarshal([]byte("<p>"+svg+"</p>"), new(struct{})); err != nil {
			t.Errorf("picture %d does not nest: %v", i, err)
		}
	}
}

// Texts are escaped wherever they are drawn.
func TestPicturesEscape(t *testing.T) {
	const bad = `<script>alert("a&b")</script>`
	for i, f := range pictures() {
		f.Title = bad
		switch {
		case f.Lines != nil:
			f.Lines.X, f.Lines.Y, f.Lines.Series[0].Name = bad, bad, bad
		case f.Histogram != nil:
			f.Histogram.X, f.Histogram.Y, f.Histogram.Groups[0].Name = bad, bad, bad
		case f.Scatter != nil:
			f.Scatter.X, f.Scatter.Groups[0].Name, f.Scatter.Mark, f.Scatter.Lines[0].Name = bad, bad, bad, bad
		case f.Heat != nil:
			f.Heat.Rows, f.Heat.Columns, f.Heat.RowKeys[0], f.Heat.ColKeys[0] = bad, bad, bad, bad
		default:
			f.Images[0].Label = bad
		}
		if svg := drawnOf(t, f); strings.Contains(svg, "<script") || !strings.Contains(svg, "&lt;script") {
			t.Errorf("picture %d: %.400s", i, svg)
		}
	}
}

// Series differ by dash and by mark, not by color alone.
func TestSeriesDifferWithoutColor(t *testing.T) {
	dashes, marks := map[string]bool{}, map[string]bool{}
	for i := range looks {
		dashes[dashOf(i)] = true
		marks[shapes[i]] = true
	}
	if len(dashes) != looks || len(marks) != looks {
		t.Errorf("%d dashes and %d marks for %d colors", len(dashes), len(marks), looks)
	}
}

// Worked by hand: a line breaks at a value that cannot be shown; steps go up or down first, then along; the chosen one
// is set apart.
func TestSeriesByHand(t *testing.T) {
	p := plot{x: scale{axis: axis{0, 4, 0, 400}}, y: scale{axis: axis{0, 10, 100, 0}}}
	for want, series := range map[string]jobs.Series{
		`<path d="M100 90L200 80M400 0" class="line chosen s0"/>`: {Chosen: true, X: []float64{1, 2, 3, 4},
			Y: []float64{1, 2, math.NaN(), 10}},
		`<path d="M0 0V50H200V100H400" class="line s0"/>`: {Steps: true, X: []float64{0, 2, 4}, Y: []float64{10, 5, 0}},
		`<path d="M0 100L400 0" class="line ref" stroke-dasharray="6 4"/>`: {Reference: true, X: []float64{0, 4},
			Y: []float64{0, 10}},
		`<circle cx="100" cy="90" r="3.5" class="dot s0"/>`: {Points: true, X: []float64{1}, Y: []float64{1}},
	} {
		s := newPicture(chartClass, 400, 100, "", "")
		head := s.Len()
		p.series(s, 0, series)
		if got, _, _ := strings.Cut(string(s.Bytes()[head:]), "\n"); got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
	s := newPicture(chartClass, 400, 100, "", "")
	p.y.log = true
	p.y.low, p.y.high = 0, 1
	head := s.Len()
	if p.series(s, 0, jobs.Series{X: []float64{1, 2}, Y: []float64{0, -1}}); s.Len() != head {
		t.Errorf("values without a logarithm are drawn: %s", s.Bytes()[head:])
	}
}

// Worked by hand: two bins of a group, from the foot up and along.
func TestHistogramByHand(t *testing.T) {
	h := &jobs.Histogram{Edges: []float64{-1, 0, 1}, Groups: []jobs.BinGroup{{Name: "a", Values: []float64{1, 0.5}}},
		Zero: true}
	svg := drawnOf(t, jobs.Figure{Histogram: h})
	p := plotOf(scale{axis: axis{low: -1, high: 1}}, scale{axis: axis{high: 1.05}}, plotHeight)
	want := fmt.Sprintf("M%s %sV%sH%sV%sH%sV%s", px(p.left+6), px(p.bottom), px(p.y.at(1)), px(p.x.at(0)),
		px(p.y.at(0.5)), px(p.right-6), px(p.bottom))
	if !strings.Contains(svg, `d="`+want+`" class="line s0"`) || !strings.Contains(svg, `class="rule"`) {
		t.Errorf("no %s in %s", want, svg)
	}
	for name, h := range map[string]*jobs.Histogram{
		"no bin": {Edges: []float64{1}}, "edges that fall": {Edges: []float64{1, 0}},
		"NaN":     {Edges: []float64{0, math.NaN()}},
		"few":     {Edges: []float64{0, 1}, Groups: []jobs.BinGroup{{}}},
		"below 0": {Edges: []float64{0, 1}, Groups: []jobs.BinGroup{{Values: []float64{-1}}}},
		"endless": {Edges: []float64{0, 1}, Groups: []jobs.BinGroup{{Values: []float64{math.Inf(1)}}}},
	} {
		if _, err := draw(jobs.Figure{Histogram: h}); err == nil {
			t.Errorf("%s is drawn", name)
		}
	}
}
