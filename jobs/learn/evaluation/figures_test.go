package evaluation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// tallied is the metrics of four records: a met, a as b, a rejected, b as a.
func tallied(t *testing.T, width int) []jobs.Metric {
	t.Helper()
	judged := NewTally(jobs.Answers{Labels: []string{"a", "b"}})
	block := &dataset.Block{Dense: dataset.Dense{Width: width, Values: make([]float32, 4*width)}}
	for i, truth := range []string{"a", "a", "a", "b"} {
		block.IDs = append(block.IDs, dataset.Identity{Object: "records", Offset: int64(i)})
		block.Labels = append(block.Labels, []byte(truth))
	}
	if err := judged.Add(block, []jobs.Outcome{{Label: "a"}, {Label: "b"}, {Rejected: true},
		{Label: "a"}}); err != nil {
		t.Fatal(err)
	}
	metrics, err := judged.Metrics(Costs{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func figuresOf(t *testing.T, metrics []jobs.Metric) map[string]jobs.Figure {
	t.Helper()
	list, err := Figures(nil, metrics)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]jobs.Figure{}
	for _, f := range list {
		named[f.Title] = f
	}
	return named
}

func TestFiguresByHand(t *testing.T) {
	figures := figuresOf(t, tallied(t, 16))
	heat := figures["Confusion matrix"].Heat
	if heat == nil || !slices.Equal(heat.ColKeys, []string{"a", "b", "(rejected)"}) ||
		!slices.Equal(heat.RowKeys, []string{"a", "b"}) ||
		!slices.Equal(heat.Counts, []int64{1, 1, 1, 1, 0, 0}) {
		t.Errorf("%+v", heat)
	}
	f := figures["Evaluation"]
	if f.Caption != "Accuracy 25.00 %: 1 of 4 test records, 1 rejected; 33.33 % of those that were not. "+
		"Labels are in order of F1, the worst first." ||
		!slices.Equal(f.Table.Rows[0], []string{"b", "1", "0.0 %", "0.0 %", "0.0 %"}) ||
		!slices.Equal(f.Table.Rows[1], []string{"a", "3", "50.0 %", "33.3 %", "40.0 %"}) {
		t.Errorf("%q %v", f.Caption, f.Table)
	}
	labels := []string{}
	for _, im := range figures["Some of the mistakes"].Images {
		labels = append(labels, im.Label)
	}
	slices.Sort(labels)
	if strings.Join(labels, ", ") != "a → b, a → none, b → a" {
		t.Errorf("pictures of %q", labels)
	}
	if rows := figures["Cost of the decisions"].Table.Rows; rows[0][1] != "2" {
		t.Errorf("costs %v", rows)
	}
}

// Vectors that are no pictures are listed by where they are.
func TestMistakesAreListed(t *testing.T) {
	table := figuresOf(t, tallied(t, 17))["Some of the mistakes"].Table
	if table == nil || len(table.Rows) != 3 || !slices.ContainsFunc(table.Rows, func(row []string) bool {
		return slices.Equal(row, []string{"records", "2", "a", "(rejected)"})
	}) {
		t.Errorf("%+v", table)
	}
}

// Too many labels for a matrix: the pairs that are most confused.
func TestFiguresOfManyLabels(t *testing.T) {
	c := NewConfusion()
	for i := range maxLabelRows + 5 {
		c.Add(fmt.Sprint("label-", i), "label-0")
	}
	var facts jobs.Facts
	facts.Add(reportMetric, c.Report())
	facts.Add(confusionMetric, c.Matrix())
	metrics, err := facts.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	figures := figuresOf(t, metrics)
	if _, ok := figures["Confusion matrix"]; ok || len(figures["Most confused labels"].Table.Rows) != maxConfused {
		t.Errorf("%+v", figures)
	}
	if rows := figures["Evaluation"].Table.Rows; len(rows) != maxLabelRows+2 || rows[maxLabelRows][0] != "5 more" {
		t.Errorf("%d rows", len(rows))
	}
}

func TestFiguresOfHostileMetrics(t *testing.T) {
	for _, m := range []jobs.Metric{
		{Name: "evaluation", Value: json.RawMessage(`[]`)},
		{Name: "evaluation.confusion", Value: json.RawMessage(`{"labels":["a"],"cells":[[0,1,1]]}`)},
		{Name: "evaluation.confusion", Value: json.RawMessage(`{"labels":["a"],"cells":[[-1,0,1]]}`)},
		{Name: "evaluation.mistakes", Value: json.RawMessage(`{}`)},
		{Name: "evaluation.regression", Value: json.RawMessage(`3`)},
	} {
		if _, err := Figures(nil, []jobs.Metric{m}); err == nil {
			t.Errorf("%s of %s was drawn", m.Value, m.Name)
		}
	}
	if figures, err := Figures(nil, []jobs.Metric{{Name: "other", Value: json.RawMessage(`{`)}}); err != nil ||
		figures != nil {
		t.Errorf("%v, %v", figures, err)
	}
}

// Pictures in a metric are bounded, and finite.
func TestShownPictures(t *testing.T) {
	large, bad := make([]float32, maxShownValues-16), make([]float32, 16)
	bad[3] /= bad[3]
	list := shown([]Mistake{{Picture: large}, {Picture: bad}, {Picture: make([]float32, 16)}})
	if list[0].Picture == nil || list[1].Picture != nil || list[2].Picture != nil {
		t.Errorf("%d, %d and %d values", len(list[0].Picture), len(list[1].Picture), len(list[2].Picture))
	}
}
