package supportvectormachine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// watched are normal records around 0 and, one in six, novel ones on a ring around them.
func watched(n int) []jobstest.Record {
	r := rand.New(rand.NewPCG(3, 9))
	list := make([]jobstest.Record, n)
	for i := range list {
		x, y := float32(r.NormFloat64()), float32(r.NormFloat64())
		list[i] = jobstest.Record{Label: "usual", Dense: []float32{x, y}}
		if i%6 == 5 {
			list[i] = jobstest.Record{Label: "strange", Dense: []float32{3 + x, 3 + y}}
		}
	}
	return list
}

// detect runs a job over records of which half are held out.
func detect(t *testing.T, params string, records []jobstest.Record, shards int) (jobstest.Result, error) {
	t.Helper()
	spec := specOf(params)
	spec.Spec.Input.Split.Test = 0.5
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, shards), 50),
		kernelops.Best(), jobstest.Grouping{})
}

func readFact[T any](t *testing.T, metrics []jobs.Metric, name string) (v T) {
	t.Helper()
	if err := jobs.ReadMetric(metrics, name, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const detecting = `{"mode":"one_class","nu":0.1,"blocks":%d,"novelty":{"labels":["strange"],"false_alarms":0.1}}`

// Novel records are found well above chance, with about as many false alarms as were asked for; neither model nor
// figures depend on shards or blocks.
func TestNoveltyOfOneClass(t *testing.T) {
	records, want := watched(900), ""
	for i, blocks := range []int{4, 1} {
		result, err := detect(t, fmt.Sprintf(detecting, blocks), records, i+1)
		if err != nil {
			t.Fatal(err)
		}
		n := readFact[evaluation.Novelty](t, result.Metrics, "evaluation.novelty")
		threshold := readFact[evaluation.Threshold](t, result.Metrics, "novelty.threshold")
		if n.Normal+n.Novel < 400 || n.Novel < 60 || threshold.Records < 50 || threshold.Threshold == nil {
			t.Fatalf("%+v, %+v", n, threshold)
		}
		if *n.AUC < 0.9 || n.Precision < 0.6 || n.FalseAlarmRate > 0.2 || n.DetectionRate < 0.6 {
			t.Errorf("%+v", n)
		}
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		got := jobstest.Digest(result.Model) + string(text)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d blocks: another model, or other figures:\n%s\n%s", blocks, got, want)
		}
	}
}

// What the novel records of the training side are changes nothing: not the scaling, not the model, not the threshold.
func TestNovelRecordsAreNotLearned(t *testing.T) {
	models := map[string]bool{}
	for _, far := range []float32{3, 1000} {
		records := watched(300)
		for i := range records {
			if records[i].Label == "strange" {
				records[i].Dense[0] *= far
			}
		}
		result, err := detect(t, `{"mode":"one_class","nu":0.2,"features":{"scale":"standard"},
			"novelty":{"labels":["strange"]}}`, records, 1)
		if err != nil {
			t.Fatal(err)
		}
		models[jobstest.Digest(result.Model)] = true
	}
	if len(models) != 1 {
		t.Error("novel records change the model")
	}
}

func TestBadNovelty(t *testing.T) {
	records := watched(40)
	bare := watched(40)
	for i := range bare {
		bare[i].Label = ""
	}
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"of classes":     {`{"novelty":{"labels":["strange"]}}`, records, "novelty is of mode one_class"},
		"nothing known":  {`{"mode":"one_class"}`, records, "no label is known to be novel"},
		"no label named": {`{"mode":"one_class","novelty":{"labels":[]}}`, records, "labels are empty"},
		"twice":          {`{"mode":"one_class","novelty":{"labels":["a","a"]}}`, records, "twice"},
		"no labels":      {`{"mode":"one_class","novelty":{"labels":["strange"]}}`, bare, "no label that could be novel"},
	} {
		_, err := detect(t, c.params, c.records, 1)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// With few normal records there is no threshold, with none that are novel no AUC: the job ends and warns.
func TestLittleToDetect(t *testing.T) {
	const params = `{"mode":"one_class","novelty":{"labels":["unheard"],"false_alarms":0.01}}`
	result, err := detect(t, params, watched(60), 1)
	if err != nil {
		t.Fatal(err)
	}
	n := readFact[evaluation.Novelty](t, result.Metrics, "evaluation.novelty")
	threshold := readFact[evaluation.Threshold](t, result.Metrics, "novelty.threshold")
	if n.AUC != nil || n.Novel != 0 || threshold.Threshold != nil {
		t.Errorf("%+v, %+v", n, threshold)
	}
	warned := 0
	for _, m := range result.Metrics {
		if m.Name == jobs.WarningsMetric {
			warned++
		}
	}
	if warned != 2 {
		t.Errorf("%d warnings", warned)
	}
	figures, err := evaluation.Figures(nil, result.Metrics)
	if err != nil || len(figures) != 2 {
		t.Errorf("%d figures, %v", len(figures), err)
	}
}

// Of rows that are pictures there is a picture of each large support vector, also where there are no classes.
func TestPicturesWithoutClasses(t *testing.T) {
	records := groups(40, 16, 2)
	for i := range records {
		records[i].Label = fmt.Sprint(i % 7)
	}
	for _, mode := range []string{"one_class", "regress"} {
		m, result := train(t, fmt.Sprintf(`{"mode":%q}`, mode), records)
		figures, err := m.figures(result.Metrics)
		if err != nil || len(figures) != 3 || len(figures[2].Images) == 0 {
			t.Errorf("%s: %d figures, %v", mode, len(figures), err)
			continue
		}
		if label := figures[2].Images[0].Label; !strings.HasPrefix(label, "record (") {
			t.Errorf("%s: a picture of %q", mode, label)
		}
	}
}

// A model of one class whose support vectors pull the other way is refused.
func TestOneClassModelRefuses(t *testing.T) {
	_, result := train(t, `{"mode":"one_class"}`, groups(20, 2, 1))
	for name, change := range map[string]func(*model){
		"class":     func(m *model) { m.class[0] = 0 },
		"alpha":     func(m *model) { m.supports.alpha[0] = -1 },
		"nu":        func(m *model) { m.nu = 2 },
		"threshold": func(m *model) { m.threshold = []float64{math.NaN()} },
	} {
		arrays, err := jobs.Decode(result.Model.Encode())
		if err != nil {
			t.Fatal(err)
		}
		m, err := readModel(arrays)
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		if _, err := readModel(jobs.ArraysOf(m)); err == nil {
			t.Errorf("another %s is taken", name)
		}
	}
}
