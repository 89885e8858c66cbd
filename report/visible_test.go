package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// A label is on the page in every figure; nothing in it steers who looks at the page or at its source.
func TestNothingOnThePageSteers(t *testing.T) {
	const label = "a\x1b[31m\x07\u009b2J\u202egpj\x9b"
	p := sample()
	p.Name, p.Facts = label, [][2]string{{label, label}}
	p.Metrics = append(p.Metrics, jobs.Metric{Name: label, Value: json.RawMessage(`"\u202e\u001b"`)})
	p.Figures = []jobs.Figure{
		{Title: label, Caption: label,
			Lines: &jobs.LineChart{X: label, Y: label,
				Series: []jobs.Series{{Name: label, X: []float64{1, 2}, Y: []float64{1, 2}}}}},
		{Title: label, Heat: &jobs.HeatMap{Rows: label, Columns: label, RowKeys: []string{label},
			ColKeys: []string{label}, Counts: []int64{1}}},
		{Title: label, Images: []jobs.Image{{Label: label, Width: 1, Values: []float32{1}}}},
		{Title: label, Table: &jobs.FigureTable{Columns: []string{label}, Rows: [][]string{{label}}}},
	}
	p.Timeline.Workers[0].Name = label
	page, err := HTML(p)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexFunc(page, func(r rune) bool { return r != '\n' && r != '\t' && protocol.Steers(r) })
	if at >= 0 || !utf8.Valid(page) {
		t.Errorf("the page holds %q", page[max(0, at-20):at+20])
	}
	if n := strings.Count(string(page), `a\x1b[31m\x07\u009b2J\u202egpj`); n < 12 {
		t.Errorf("the label is shown %d times", n)
	}
}
