package all_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/kernelops"
)

// scoredParams are those of the jobs whose scores are judged, by kind.
var scoredParams = map[string][]string{
	"GaussianNaiveBayes":   {`{}`},
	"KernelDensityBayes":   {`{}`, `{"store_base":false}`},
	"KernelNearestMean":    {`{"kernel":"linear"}`},
	"KernelPerceptron":     {`{"kernel":"linear"}`},
	"LinearModel":          {`{}`, `{"loss":"logistic"}`, `{"classes":"one_vs_one"}`},
	"NearestMean":          {`{}`, `{"pairs":true}`},
	"NearestNeighbors":     {`{"mode":"classify","k":5}`},
	"Perceptron":           {`{}`},
	"Predict":              {`{}`, `{"reject_below":0.5}`},
	"SupportVectorMachine": {`{}`, `{"probability":true}`},
}

// Every kind that gives classes scores judges them, with the same bytes for any shards and kernels, and trains the
// model of a job that does not.
func TestScoresOfAllKinds(t *testing.T) {
	for _, kind := range all.Kinds() {
		if !kind.Evaluates || kind.Name == "NaiveBayes" { // of texts: TestScoresOfTexts
			continue
		}
		if scoredParams[kind.Name] == nil {
			t.Errorf("kind %s has no case", kind.Name)
		}
		for _, params := range scoredParams[kind.Name] {
			t.Run(kind.Name+params, func(t *testing.T) {
				c := casetest.Case{Name: kind.Name, Kind: kind.Name, Params: params}
				checkScores(t, c, casetest.Iris())
			})
		}
	}
}

func TestScoresOfTexts(t *testing.T) {
	checkScores(t, casetest.Case{Name: "words", Kind: "NaiveBayes", Params: `{}`}, casetest.Mails)
}

func checkScores(t *testing.T, c casetest.Case, data *casetest.Data) {
	t.Helper()
	evaluation := `"evaluation":{"bootstrap":20},`
	want := ""
	for _, shards := range []int{1, 3, 4} {
		run := casetest.Run{Data: data, Shards: shards, Ops: kernelops.All()[shards%len(kernelops.All())], Test: 0.4,
			More: evaluation}
		got := ""
		for _, m := range c.Judged(t, run) {
			if strings.HasPrefix(m.Name, "evaluation.") {
				got += fmt.Sprintf("%s %s\n", m.Name, m.Value)
			}
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("in %d shards\n%s\nnot\n%s", shards, got, want)
		}
	}
	for _, name := range []string{"scores", "ranking", "risk", "bootstrap"} {
		if !strings.Contains(want, "evaluation."+name+" ") {
			t.Errorf("no metric evaluation.%s", name)
		}
	}
	var ranks struct {
		MacroAUC float64 `json:"macro_auc"`
		Classes  []struct{ AUC float64 }
	}
	run := casetest.Run{Data: data, Test: 0.4, More: evaluation}
	if err := jobs.ReadMetric(c.Judged(t, run), "evaluation.ranking", &ranks); err != nil {
		t.Fatal(err)
	}
	// one of three classes lies between the others
	if auc := max(ranks.MacroAUC, ranks.Classes[0].AUC); !(auc > 0.75) {
		t.Errorf("AUC %v", ranks)
	}
	if c.Kind == predict.KindName {
		return
	}
	model := func(more string) string {
		run.More = more
		return string(c.Train(t, run).Encode())
	}
	if model("") != model(evaluation) {
		t.Error("another model where scores are judged")
	}
}
