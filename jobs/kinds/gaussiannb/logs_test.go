package gaussiannb

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// logsOf are the logarithms of the posteriors of records, and the posteriors.
func logsOf(t testing.TB, model jobs.Arrays, records []jobstest.Record) (logs, posteriors [][]float64) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	p.(jobs.LogPredictor).GiveLogs()
	if !p.Answers().Logs {
		t.Error("the answers do not have what they give")
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 3)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			logs = append(logs, append([]float64{}, o.Logs...))
			posteriors = append(posteriors, append([]float64{}, o.Scores...))
		}
	}
	return logs, posteriors
}

// Class a has mean 0 and variance 2, class b mean 5 and variance 11/3, as in TestModelByHand. At 500, where the
// posterior of a underflows,
//
//	log p(a|x) = log(2/5) - 500^2/4 - log(2)/2 - (log(3/5) - 495^2/(22/3) - log(11/3)/2),
//
// less log(1 + p(a|x)/p(b|x)), which is 0.
func TestLogPosteriorsByHand(t *testing.T) {
	model := modelOf(t, `{"var_smoothing": 0.125}`, fivePoints)
	logs, posteriors := logsOf(t, model, jobstest.DenseRecords([][]float32{{500, 2}, {2, 2}}, "?", "?"))
	want := math.Log(0.4) - 62500 - math.Log(2)/2 - (math.Log(0.6) - 245025*3/22.0 - math.Log(11.0/3)/2)
	if posteriors[0][0] != 0 || !near(logs[0], []float64{want, 0}) {
		t.Errorf("posteriors %v with logarithms %v, want %v", posteriors[0], logs[0], want)
	}
	a, b := 0.4*math.Exp(-1)/math.Sqrt(2), 0.6*math.Exp(-27.0/22)/math.Sqrt(11.0/3)
	if !near(logs[1], []float64{math.Log(a / (a + b)), math.Log(b / (a + b))}) {
		t.Errorf("%v", logs[1])
	}
	for i, o := range predict(t, model, jobstest.DenseRecords([][]float32{{500, 2}, {2, 2}}, "?", "?")) {
		if o.Logs != nil || !near(o.Scores, posteriors[i]) {
			t.Errorf("without being asked: %+v", o)
		}
	}
}

// A record beyond float64 from a class has its logarithm at the end of float64, and one beyond it from all is as far
// from each.
func TestLogPosteriorsAreFinite(t *testing.T) {
	logs, _ := logsOf(t, modelOf(t, `{"var_smoothing": 1e-30}`, fivePoints),
		jobstest.DenseRecords([][]float32{{2, math.MaxFloat32}, {math.MaxFloat32, 2}}, "?", "?"))
	for _, list := range logs {
		for _, v := range list {
			if !(v <= 0 && v >= -math.MaxFloat64) {
				t.Errorf("%v", logs)
			}
		}
	}
}

// peer is a case of testdata/logproba.json.
type peer struct {
	Name         string
	X, Asked     [][]float32
	Labels       []string
	Weights      []float32
	Priors       []float64
	VarSmoothing float64     `json:"var_smoothing"`
	LogProba     [][]float64 `json:"log_proba"`
	Proba        [][]float64
}

// The logarithms are those of GaussianNB.predict_log_proba, where they are thousands below 0 and where columns are far
// from zero. There scikit-learn's variances are off by some 1e-10.
func TestLogPosteriorsAgainstScikitLearn(t *testing.T) {
	data, err := os.ReadFile("testdata/logproba.json")
	if err != nil {
		t.Fatal(err)
	}
	var peers []peer
	if err := json.Unmarshal(data, &peers); err != nil || len(peers) != 5 {
		t.Fatal(len(peers), err)
	}
	least := 0.0
	for _, p := range peers {
		records := jobstest.DenseRecords(p.X, p.Labels...)
		for i := range records {
			records[i].Weight = p.Weights[i]
		}
		prior := `"learned"`
		if p.Priors != nil {
			prior = fmt.Sprintf(`{"a": %v, "b": %v, "c": %v}`, p.Priors[0], p.Priors[1], p.Priors[2])
		}
		model := modelOf(t, fmt.Sprintf(`{"var_smoothing": %v, "prior": %s}`, p.VarSmoothing, prior), records)
		logs, posteriors := logsOf(t, model, jobstest.DenseRecords(p.Asked, "?", "?", "?", "?", "?"))
		for i, want := range p.LogProba {
			for y := range want {
				least = min(least, want[y])
				if math.Abs(logs[i][y]-want[y]) > 1e-9*max(1, -want[y]) ||
					math.Abs(posteriors[i][y]-p.Proba[i][y]) > 1e-9 {
					t.Errorf("%s, record %d, class %d: %v and %v, want %v and %v", p.Name, i, y, logs[i][y],
						posteriors[i][y], want[y], p.Proba[i][y])
				}
			}
		}
	}
	if least > -1e5 {
		t.Errorf("no logarithm is below %v", least)
	}
}
