package knn

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
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
