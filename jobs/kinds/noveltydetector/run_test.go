package noveltydetector

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

func tryRun(
	t *testing.T, params string, test float64, shards [][]jobstest.Record, ops *kernelops.Set,
) (jobstest.Result, error) {
	t.Helper()
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(params)
	spec.Spec.Repro.Seed, spec.Spec.Input.Split.Test = 7, test
	algorithm, err := New(spec)
	if err != nil {
		return jobstest.Result{}, err
	}
	return jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(shards, 50), ops, jobstest.Grouping{})
}

// at are records at places on a line.
func at(places ...float32) []jobstest.Record {
	list := make([]jobstest.Record, len(places))
	for i, x := range places {
		list[i] = jobstest.Record{Dense: []float32{x}}
	}
	return list
}

func outcomes(t *testing.T, model jobs.Arrays, records []jobstest.Record) (list []jobs.Outcome) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 500)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		some, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, some...)
	}
	return list
}

const noThreshold = `"novelty":{"validation":0}`

// Worked by hand: of records at 0, 1 and 3 the second neighbor of 0.5 is 0.5 away, that of 7 is 6 away.
func TestNeighborsByHand(t *testing.T) {
	result, err := tryRun(t, `{"k":2,`+noThreshold+`}`, 0, [][]jobstest.Record{at(0, 1, 3)}, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes(t, result.Model, at(0.5, 7))
	if got[0].Value != 0.5 || got[1].Value != 6 || got[0].Label != "" {
		t.Errorf("%+v", got)
	}
}

// Worked by hand: records at 0 and 2 of weights 1 and 3 with h = 1: at 0 the density is (1 + 3 exp(-2))/4 times
// 1/sqrt(2 pi). Far from both it is that of the nearest alone, although it is below the least number.
func TestDensityByHand(t *testing.T) {
	two := at(0, 2)
	two[0].Weight, two[1].Weight = 1, 3
	result, err := tryRun(t, `{"detector":"kernel_density","bandwidth":1,`+noThreshold+`}`, 0,
		[][]jobstest.Record{two}, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes(t, result.Model, at(0, 1002))
	norm := -math.Log(2*math.Pi) / 2
	for i, want := range []float64{math.Log((1+3*math.Exp(-2))/4) + norm, math.Log(0.75) - 500_000 + norm} {
		if math.Abs(got[i].Value-want) > 1e-12*math.Abs(want) {
			t.Errorf("log density %v, not %v", got[i].Value, want)
		}
	}
}

// By hand: of places 0, 1, 2 and 3 the variance is 5/4, and 4^(-1/5) is the factor of scott.
func TestBandwidthByHand(t *testing.T) {
	for rule, want := range map[string]float64{"scott": math.Sqrt(1.25) * math.Pow(4, -0.2),
		"silverman": math.Sqrt(1.25) * math.Pow(3, -0.2)} {
		result, err := tryRun(t, `{"detector":"kernel_density","bandwidth_rule":"`+rule+`",`+noThreshold+`}`, 0,
			[][]jobstest.Record{at(0, 1, 2, 3)}, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		m, err := jobs.Load[model](result.Model)
		if err != nil || math.Abs(m.bandwidth-want) > 1e-14 {
			t.Errorf("%s: %v, not %v: %v", rule, m.bandwidth, want, err)
		}
	}
}

// watched are normal records around 0 and, one in six, novel ones away from them; far moves all.
func watched(n int, far float32) []jobstest.Record {
	r := rand.New(rand.NewPCG(3, 9))
	list := make([]jobstest.Record, n)
	for i := range list {
		x, y := float32(r.NormFloat64()), float32(r.NormFloat64())
		list[i] = jobstest.Record{Label: "usual", Dense: []float32{far + x, far + y}}
		if i%6 == 5 {
			list[i] = jobstest.Record{Label: "strange", Dense: []float32{far + 3 + x, far + 3 + y}}
		}
	}
	return list
}

// Novel records are found well above chance with about as many false alarms as were asked for, also far from zero;
// neither model nor figures depend on shards or kernel sets.
func TestNovelRecordsAreFound(t *testing.T) {
	for _, detector := range []string{byNeighbors, byDensity} {
		for _, far := range []float32{0, 1e4} {
			params := fmt.Sprintf(`{"detector":%q,"novelty":{"labels":["strange"],"false_alarms":0.1}}`, detector)
			want := ""
			for _, set := range kernelops.All() {
				for shards := 1; shards < 4; shards += 2 {
					result, err := tryRun(t, params, 0.5, jobstest.Deal(watched(600, far), shards), set)
					if err != nil {
						t.Fatal(err)
					}
					var n evaluation.Novelty
					if err := jobs.ReadMetric(result.Metrics, "evaluation.novelty", &n); err != nil {
						t.Fatal(err)
					}
					if *n.AUC < 0.9 || n.Precision < 0.6 || n.FalseAlarmRate > 0.2 || n.DetectionRate < 0.6 {
						t.Fatalf("%s, %v: %+v", detector, far, n)
					}
					text, _ := json.Marshal(n)
					got := jobstest.Digest(result.Model) + string(text)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s, %v, %s: another model, or other figures", detector, far, set.Name)
					}
				}
			}
		}
	}
}

// A second implementation, over all distances one by one, gives the same distances and densities.
func TestAgainstAllDistances(t *testing.T) {
	train, queries := watched(200, 3), watched(50, 2)
	for _, detector := range []string{`"knn","k":7`, `"kernel_density","bandwidth":0.5`} {
		result, err := tryRun(t, `{"detector":`+detector+`,`+noThreshold+`}`, 0, jobstest.Deal(train, 3),
			kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range outcomes(t, result.Model, queries) {
			var squares []float64
			density := 0.0
			for _, r := range train {
				dx, dy := float64(r.Dense[0]-queries[i].Dense[0]), float64(r.Dense[1]-queries[i].Dense[1])
				squares = append(squares, dx*dx+dy*dy)
				density += math.Exp(-(dx*dx+dy*dy)/0.5) / (2 * math.Pi * 0.25) / float64(len(train))
			}
			want := math.Log(density)
			if strings.Contains(detector, "knn") {
				less := 0
				for _, s := range squares {
					if math.Sqrt(s) < got.Value*(1-1e-6) {
						less++
					}
				}
				if less != 6 {
					t.Fatalf("record %d: %d are nearer than %v", i, less, got.Value)
				}
				continue
			}
			if math.Abs(got.Value-want) > 1e-5*max(1, math.Abs(want)) {
				t.Fatalf("record %d: %v, not %v", i, got.Value, want)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	light := at(1, 2, 3)
	light[2].Weight = 1
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"no detector":    {`{"detector":"svm"}`, at(1, 2), "detector"},
		"k of density":   {`{"detector":"kernel_density","k":2}`, at(1, 2), "k is of detector knn"},
		"bandwidth":      {`{"bandwidth":2}`, at(1, 2), "are of detector kernel_density"},
		"both":           {`{"detector":"kernel_density","bandwidth":2,"bandwidth_rule":"scott"}`, at(1, 2), "exclude"},
		"few records":    {`{"k":3,` + noThreshold + `}`, at(1, 2), "no neighbor of number 3"},
		"no record":      {`{}`, nil, "no training record"},
		"equal records":  {`{"k":1,` + noThreshold + `}`, at(2, 2, 2), "are equal"},
		"without labels": {`{"novelty":{"labels":["a"]}}`, at(1, 2, 3, 4), "no label that could be novel"},
		"no alarms":      {`{"novelty":{"false_alarms":0}}`, at(1, 2), "false_alarms"},
	} {
		_, err := tryRun(t, c.params, 0, [][]jobstest.Record{c.records}, kernelops.Best())
		var fault *protocol.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tryRun(t, `{}`, 0.5, [][]jobstest.Record{at(1, 2)}, kernelops.Best()); err == nil {
		t.Error("test records without labels of novel ones are taken")
	}
	// A record that weighs 0 is not among the neighbors.
	result, err := tryRun(t, `{"k":1,`+noThreshold+`}`, 0, [][]jobstest.Record{light}, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes(t, result.Model, at(1)); got[0].Value != 2 {
		t.Errorf("the distance is %v, not 2", got[0].Value)
	}
}

// Queries are judged in place of a part of the input, whose normal records are learned from or set the threshold.
func TestNovelQueries(t *testing.T) {
	records := watched(600, 0)
	spec := protocol.JobSpec{APIVersion: protocol.APIVersion, Kind: KindName}
	spec.Spec.Params = json.RawMessage(`{"novelty":{"labels":["strange"],"top":10}}`)
	spec.Spec.Repro.Seed, spec.Spec.Queries = 7, &protocol.Input{}
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records[:400], 3), 50),
		kernelops.Best(), jobstest.Grouping{}, jobstest.WithQueries(jobstest.Deal(records[400:], 2)))
	if err != nil {
		t.Fatal(err)
	}
	var n evaluation.Novelty
	var threshold evaluation.Threshold
	for name, v := range map[string]any{"evaluation.novelty": &n, "novelty.threshold": &threshold} {
		if err := jobs.ReadMetric(result.Metrics, name, v); err != nil {
			t.Fatal(err)
		}
	}
	m, err := jobs.Load[model](result.Model)
	if err != nil {
		t.Fatal(err)
	}
	// Of the 400 records 66 are strange.
	if n.Normal != 166 || n.Novel != 34 || n.Top != 10 || int(threshold.Records)+m.base.N != 334 ||
		m.threshold[0] != *threshold.Threshold {
		t.Errorf("%+v, %+v, %d learned", n, threshold, m.base.N)
	}
	alarms := 0
	for i, o := range outcomes(t, result.Model, records[400:]) {
		if o.Label == evaluation.Outlier && records[400+i].Label == "usual" {
			alarms++
		}
	}
	if int64(alarms) != n.FalseAlarms {
		t.Errorf("%d false alarms, not %d", alarms, n.FalseAlarms)
	}
}
