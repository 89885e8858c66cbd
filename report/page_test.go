package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// sample is a page with a figure of every sort.
func sample() Page {
	loop := jobs.Image{Label: "4 as 9", Width: 4, Values: []float32{0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0}}
	return Page{
		Job: "digits-k3f9p2", Name: "digits", Kind: "KMeans", ModelSHA256: strings.Repeat("8e", 32), Seconds: 12.3456,
		Rounds: []Round{{1, "features", 8, 0.5}, {2, "lloyd", 8, 1.25}},
		Metrics: []jobs.Metric{{Name: "lloyd.001.distortion", Value: json.RawMessage("1234.5")},
			{Name: "note", Value: json.RawMessage(`"<b>&"`)}},
		Timeline: course(),
		Facts:    [][2]string{{"seed", "7"}, {"input", "s3://corpus/a&b.csv"}},
		Set:      []Param{{Name: "k", Value: "10"}},
		Defaults: []Param{{Name: "features.scale", Value: "none"}, {Name: "tol", Value: "0"},
			{Name: "block", Value: "8 MiB", Exact: "8,388,608 bytes"}},
		Run: Run{Submitted: "2026-11-21T09:00:00.000Z", Ended: "2026-11-21T09:00:12.345Z", Build: "gram v1.2 (abc)",
			Workers: []string{"<w1> (avx2)"}, WorkSeconds: 40},
		Spec:  `{"kind": "KMeans"}`,
		Links: []Link{{"model.safetensors", "the model"}, {"provenance.json", ""}},
		Audits: &Audits{
			Says: "worker <w2> made another result of round 1, step than two others; what it had a part in was made again; " +
				"two workers agree on 17 tasks",
			Facts: [][2]string{
				{"drawn", "18 tasks: 5 nodes (1% of them, and one of each phase), and 13 steps and plans"},
				{"cost", "1.2s of the 1m4s that workers took (1.9%); the report waited 210ms"},
			},
			Auditors: []Auditor{{"w1", "avx2", 9, 4}, {"w3", "generic", 8, 8}},
			Convicted: []Convicted{
				{"<w2>", "w-2b00c1d2e3f405162738495a6b7c8d9e", "round 1, step", "digits-k3f9p2", "two others"},
			},
		},
		Figures: []jobs.Figure{
			{Title: "Distortion", Caption: "J after each round.",
				Lines: &jobs.LineChart{X: "round", Y: "J", Series: []jobs.Series{
					{Name: "restart 1", X: []float64{1, 2, 3, 4}, Y: []float64{900, 500, 430, 425}},
					{Name: "restart 2", X: []float64{1, 2, 3, 4}, Y: []float64{950, 470, 410, math.NaN()}}}}},
			{Title: "Margin", Scatter: &jobs.ScatterPlot{X: "column 1", Y: "column 2", Mark: "support vector",
				Groups: []jobs.PointGroup{
					{Name: "<a>", X: []float64{0, 1}, Y: []float64{0, 2}, Marked: []bool{false, true}}, {Name: "b"}},
				Lines: []jobs.StraightLine{{Name: "boundary", A: 1, C: -0.5}, {Name: "far", B: 1, C: 1e9}}}},
			{Title: "Confusion", Heat: &jobs.HeatMap{Rows: "truth", Columns: "decision", RowKeys: []string{"<a>", "b"},
				ColKeys: []string{"<a>", "b", "rejected"},
				Counts:  []int64{90, 8, 2, 11_000, 0, 1}}},
			{Title: "Centers", Images: []jobs.Image{loop, {Label: "flat", Width: 2, Values: []float32{3, 3, 3, 3}}}},
			{Title: "Pairs", Table: &jobs.FigureTable{Columns: []string{"pair", "errors"},
				Rows: [][]string{{"0-1", "3"}}}},
		},
	}
}

// The page's elements nest, and nothing in it is fetched from anywhere.
func TestPageIsWholeAndSelfContained(t *testing.T) {
	page, err := HTML(sample())
	if err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("GRAM_REPORT_OUT"); path != "" { // to look at it
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"digits-k3f9p2", "12.35 s", "a&amp;b.csv", "J after each round.", "&lt;a&gt;", "data:image/png;base64,", "0-1",
		"the report waited 210ms", "worker &lt;w2&gt; made", "other set</th>", "than two others</td>",
		"2 rounds<", "2 metrics<", ">k</th>", "3 more are the defaults", "submitted</th>", `href="provenance.json"`,
		"gram v1.2 (abc)", "&lt;w1&gt; (avx2)", `title="8,388,608 bytes"`,
		"digits (k 10) · digits-k3f9p2 · Gram</title>", "lloyd.<wbr/>001.", "Rows: truth; columns: decision",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<link|@import|url\(|(href|src)="?(https?:|//|file:)|<b>`).Find(
		page); found != nil {
		t.Errorf("the page holds %q", found)
	}
	nests(t, page)
}

// nests fails unless the elements of a page nest.
func nests(t *testing.T, page []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(page, []byte("<!doctype html>\n"))))
	dec.Strict, dec.AutoClose, dec.Entity = false, []string{"meta"}, xml.HTMLEntity
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the page does not nest: %v", err)
		}
	}
}

func TestPageIsAFunctionOfItsContent(t *testing.T) {
	one, err := HTML(sample())
	if err != nil {
		t.Fatal(err)
	}
	two, err := HTML(sample())
	if err != nil || !bytes.Equal(one, two) {
		t.Error("two pages of one content differ", err)
	}
}

func TestFiguresThatCannotBeDrawn(t *testing.T) {
	for name, f := range map[string]jobs.Figure{
		"a ragged picture":        {Images: []jobs.Image{{Width: 3, Values: make([]float32, 8)}}},
		"a picture without width": {Images: []jobs.Image{{Values: make([]float32, 8)}}},
		"axes of two lengths": {Lines: &jobs.LineChart{Series: []jobs.Series{{X: []float64{1},
			Y: []float64{1, 2}}}}},
		"counts that do not fit": {Heat: &jobs.HeatMap{RowKeys: []string{"a"}, ColKeys: []string{"a"}}},
	} {
		if _, err := HTML(Page{Figures: []jobs.Figure{f}}); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
}

// Nothing to show is no reason to fail.
func TestEmptyFigures(t *testing.T) {
	for name, f := range map[string]jobs.Figure{
		"no series": {Lines: &jobs.LineChart{}}, "no value": {Lines: &jobs.LineChart{Series: []jobs.Series{{}}}},
		"one value": {Lines: &jobs.LineChart{Series: []jobs.Series{{X: []float64{1}, Y: []float64{0}}}}},
		"no finite": {Lines: &jobs.LineChart{Series: []jobs.Series{{X: []float64{1}, Y: []float64{math.Inf(1)}}}}},
		"no keys":   {Heat: &jobs.HeatMap{}}, "no pictures": {Images: []jobs.Image{}}, "nothing": {},
	} {
		if _, err := HTML(Page{Figures: []jobs.Figure{f}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRaggedTableIsRefused(t *testing.T) {
	p := sample()
	p.Figures = []jobs.Figure{{Title: "Pairs",
		Table: &jobs.FigureTable{Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"3"}}}}}
	if _, err := HTML(p); err == nil || !strings.Contains(err.Error(), "row 1 has 1 cells for 2 columns") {
		t.Errorf("%v", err)
	}
}

func TestNumbersStandToTheRight(t *testing.T) {
	numeric := numericColumns(&jobs.FigureTable{Columns: []string{"label", "records", "share", "name"},
		Rows: [][]string{{"0", "12", "3.5 %", "7"}, {"mean", "", "4 %", "b"}}})
	if want := []bool{false, true, true, false}; !slices.Equal(numeric, want) {
		t.Errorf("%v, want %v", numeric, want)
	}
}

func TestLongMetricsAreLeftToTheData(t *testing.T) {
	long := strings.Repeat("1", maxMetricText+1)
	for raw, want := range map[string]string{
		"12": "12", `"unchanged"`: "unchanged", "[" + long + "]": "163 bytes, in report.json", `"` + long +
			`"`: long[:maxMetricText-1] + "…",
	} {
		if got := metricText([]byte(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestOneIsNoPlural(t *testing.T) {
	p := sample()
	p.Rounds, p.Metrics = p.Rounds[:1], p.Metrics[:1]
	page, err := HTML(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<summary>1 round</summary>", "<summary>1 metric</summary>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// What is long may break anywhere, what is short never within a word.
func TestCellClass(t *testing.T) {
	for cell, want := range map[string]string{"noun.communication": "", strings.Repeat("ab/", 20): "long",
		"of a tenth of all records, none was": "long"} {
		if got := cellClass(false, cell); got != want {
			t.Errorf("%q: class %q, want %q", cell, got, want)
		}
	}
	if got := cellClass(true, "12 %"); got != "n" {
		t.Errorf("a number has class %q", got)
	}
}
