package all_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// Of every kind that is judged on labels, a job with folds has the figures of each fold, whatever the shards, and the
// model of a job on all records.
func TestFoldsOfAllKinds(t *testing.T) {
	for kind, list := range scoredParams { //lint:ordered tests of their own
		if kind == "Predict" || kind == "NearestNeighbors" { // the latter keeps its base only if it is asked to
			continue
		}
		t.Run(kind, func(t *testing.T) {
			checkFolds(t, casetest.Case{Name: kind, Kind: kind, Params: list[0]}, casetest.Iris(), true)
		})
	}
	checkFolds(t, casetest.Case{Name: "knn", Kind: "NearestNeighbors",
		Params: `{"mode":"classify","store_base":true}`}, casetest.Iris(), true)
	checkFolds(t, casetest.Case{Name: "words", Kind: "NaiveBayes", Params: `{}`}, casetest.Mails, true)
	checkFolds(t, casetest.Case{Name: "ridge", Kind: "LinearModel", Params: `{"mode":"regress","loss":"squared"}`},
		casetest.Iris(), false)
}

func checkFolds(t *testing.T, c casetest.Case, data *casetest.Data, scored bool) {
	t.Helper()
	checkFoldsBy(t, c, data, scored, "")
	if !scored {
		return
	}
	checkFoldsBy(t, c, data, scored, "label")
	held := casetest.Run{Data: data, Shards: 1, Test: 0.3, By: "label"}
	one := c.Train(t, held)
	held.Shards = 4
	if string(one.Encode()) != string(c.Train(t, held).Encode()) {
		t.Errorf("%s: shards matter to what is held out by label", c.Name)
	}
}

func checkFoldsBy(t *testing.T, c casetest.Case, data *casetest.Data, scored bool, by string) {
	t.Helper()
	more := ""
	if scored {
		more = `"evaluation":{},`
	}
	var texts []string
	var folds evaluation.Folds
	for _, shards := range []int{1, 4} {
		metrics := c.Judged(t, casetest.Run{Data: data, Shards: shards, Folds: 3, By: by, More: more})
		if err := jobs.ReadMetric(metrics, evaluation.FoldsMetric, &folds); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(folds)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s: %s\nnot\n%s", c.Name, texts[1], texts[0])
	}
	records, _ := data.Records(t)
	total := int64(0)
	for _, f := range folds.Folds {
		total += f.Records
		if n := int64(len(records)); by != "" && f.Records != n/3 && f.Records != n/3+1 {
			t.Errorf("%s: fold %d has %d of %d records", c.Name, f.Fold, f.Records, n)
		}
	}
	if len(folds.Folds) != 3 || total != int64(len(records)) || len(folds.Summaries) < 2 {
		t.Errorf("%s: %s", c.Name, texts[0])
	}
	for _, s := range folds.Summaries {
		if s.Figure == "accuracy" && !(s.Mean > 0.3) || math.IsNaN(s.Deviation) {
			t.Errorf("%s: %+v", c.Name, s)
		}
	}
	alone := c.Train(t, casetest.Run{Data: data, Shards: 2})
	if string(alone.Encode()) != string(c.Train(t, casetest.Run{Data: data, Shards: 3, Folds: 3, By: by}).Encode()) {
		t.Errorf("%s: another model with folds", c.Name)
	}
}
