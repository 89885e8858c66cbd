package noveltydetector

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
)

// known is what scikit-learn says of some records; testdata has the script.
type known struct {
	Name                 string
	K                    int
	Bandwidth            float64
	Train, Queries       [][]float32
	Novel                []bool
	Distances, Densities []float64
	AUC                  float64
}

// Distances, densities and the AUC are those of scikit-learn.
func TestAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/novelty.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []known
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 5 {
		t.Fatalf("%d cases, %v", len(list), err)
	}
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) { c.check(t) })
	}
}

func (c known) check(t *testing.T) {
	train, queries := jobstest.DenseRecords(c.Train), jobstest.DenseRecords(c.Queries)
	ranking := evaluation.NewRanking()
	for name, want := range map[string][]float64{
		fmt.Sprintf(`"k":%d`, c.K): c.Distances,
		fmt.Sprintf(`"detector":"kernel_density","bandwidth":%v`, c.Bandwidth): c.Densities,
	} {
		result, err := tryRun(t, `{`+name+`,`+noThreshold+`}`, 0, [][]jobstest.Record{train}, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range outcomes(t, result.Model, queries) {
			if off := math.Abs(got.Value - want[i]); off > 1e-9*max(1, math.Abs(want[i])) {
				t.Errorf("%s: record %d has %v, not %v", name, i, got.Value, want[i])
			}
			if len(name) < 8 {
				ranking.Add(got.Value, c.Novel[i])
			}
		}
	}
	if auc, _, _ := ranking.AUC(); math.Abs(auc-c.AUC) > 1e-12 {
		t.Errorf("AUC %v, not %v", auc, c.AUC)
	}
}
