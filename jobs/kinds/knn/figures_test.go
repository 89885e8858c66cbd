package knn

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
)

func TestFigureOfAProjection(t *testing.T) {
	value := `{"queries":4,"recall":0.75,"pairs":10,"min":0.5,"max":1.25,"within":[{"eps":0.1,"share":0.3},{"eps":0.5,"share":1}]}`
	figures, err := Kind().Figures(nil, []jobs.Metric{{Name: measuredMetric, Value: json.RawMessage(value)}})
	if err != nil || len(figures) != 1 {
		t.Fatalf("%v, %v", figures, err)
	}
	if f := figures[0]; !slices.Equal(f.Table.Rows[0], []string{"0.1", "30.00 %"}) ||
		f.Caption != "Recall of the exact lists 75.00 % on 4 sampled queries. Squared distances of 10 sampled pairs, after by before: 0.5 to 1.25." {
		t.Errorf("%+v %+v", f, f.Table)
	}
	if _, err := Kind().Figures(nil, []jobs.Metric{{Name: measuredMetric, Value: json.RawMessage(`[]`)}}); err == nil {
		t.Error("a list was drawn")
	}
}

// The records 0, 1, 3, 7 and 7.5 have their nearest at 1, 1, 2, 0.5 and 0.5, and their second nearest at 3, 2, 3, 4
// and 4.5.
func TestFigureOfAGraph(t *testing.T) {
	base := jobstest.DenseRecords([][]float32{{0}, {1}, {3}, {7}, {7.5}})
	r, err := job{params: `{"k":3}`, base: base}.graph(t)
	if err != nil {
		t.Fatal(err)
	}
	figures, err := GraphKind().Figures(r.Model, r.Metrics)
	if err != nil || len(figures) != 1 {
		t.Fatalf("%v, %v", figures, err)
	}
	for i, want := range [][]float64{{2, 4.5}, {1, 3.3}, {0.5, 2}} {
		if got := figures[0].Lines.Series[i]; !slices.Equal(got.Y, want) || !slices.Equal(got.X, []float64{1, 2}) {
			t.Errorf("%+v, want %v", got, want)
		}
	}
	if _, err := GraphFigures(nil, []jobs.Metric{{Name: distancesMetric, Value: json.RawMessage(`[]`)}}); err == nil {
		t.Error("a list was drawn")
	}
}
