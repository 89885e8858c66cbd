package supportvectormachine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// foldDigits are the folds of the first records of one shard, with the seed of the tests.
func foldDigits(t *testing.T, n int) string {
	t.Helper()
	p := &trainPhase{}
	p.Seed = specOf(`{}`).Spec.Repro.Seed
	of, digits := p.foldsOf(), []byte{}
	for block, err := range jobstest.Shards([][]jobstest.Record{groups(n, 1, 2)}, n)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.IDs {
			digits = append(digits, byte('0'+of(record{Chunk: rows.Chunk{IDs: block.IDs}, i: i})))
		}
	}
	return string(digits)
}

// Folds follow from seed and identity. The script of the fixture has those of 150 records.
func TestFolds(t *testing.T) {
	text, err := os.ReadFile("testdata/probability.py")
	if err != nil {
		t.Fatal(err)
	}
	digits := regexp.MustCompile(`"\s*"`).ReplaceAllString(string(text), "")
	if got := foldDigits(t, 150); !strings.Contains(digits, `"`+got+`"`) {
		t.Errorf("the script has other folds than %s", got)
	}
	count := [folds + 1]int{}
	for _, c := range foldDigits(t, 5000) {
		count[c-'0']++
	}
	for fold, n := range count[1:] {
		if math.Abs(float64(n)-1000) > 5*math.Sqrt(800) {
			t.Errorf("fold %d has %d of 5,000", fold+1, n)
		}
	}
}

// calibrated is what scikit-learn's machines, sigmoids by scipy, and the coupling as linear equations make of irises.
type calibrated struct {
	Classes       []int
	C, Gamma      float64
	Sigmoids      [][2]float64
	Probabilities [][]float64
}

func TestProbabilitiesAgree(t *testing.T) {
	text, err := os.ReadFile("testdata/probability.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []calibrated
	if err := json.Unmarshal(text, &list); err != nil || len(list) != 3 {
		t.Fatalf("%d fixtures, %v", len(list), err)
	}
	for _, want := range list {
		var records []jobstest.Record
		for _, r := range numberRecords(t, "iris.csv") {
			if int(r.Label[0]-'0') >= want.Classes[0] {
				records = append(records, r)
			}
		}
		m, result := train(t, fmt.Sprintf(`{"probability":true,"C":%g,"gamma":%g,"tol":1e-6,"blocks":3}`, want.C,
			want.Gamma), records)
		for k, s := range want.Sigmoids {
			if got := m.sigmoid(k); math.Abs(got.A-s[0]) > 2e-3*math.Abs(s[0]) || math.Abs(got.B-s[1]) > 2e-3 {
				t.Errorf("machine %d of %v: %+v, not %v", k, want.Classes, got, s)
			}
		}
		for i, o := range outcomes(t, result.Model, records) {
			for y, p := range o.Scores {
				if math.Abs(p-want.Probabilities[i][y]) > 5e-4 {
					t.Errorf("record %d of %v: %v, not %v", i, want.Classes, o.Scores, want.Probabilities[i])
					break
				}
			}
		}
	}
}

// outcomes are the predictions of a model.
func outcomes(t *testing.T, model jobs.Arrays, records []jobstest.Record) (list []jobs.Outcome) {
	t.Helper()
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	if value := p.Answers().Value; value != "probability" {
		t.Errorf("the scores are a %s", value)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, len(records))[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if list, err = p.Predict(t.Context(), block); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The machines are those of a job without probabilities. Probabilities add up to 1, the label is that of the greatest,
// and they grow with the decision.
func TestProbabilities(t *testing.T) {
	for _, classes := range []int{2, 4} {
		records := groups(120, 3, classes)
		plain, _ := train(t, `{"C":2}`, records)
		m, result := train(t, `{"C":2,"probability":true}`, records)
		if !equalMachines(plain, m) || plain.sigmoids != nil || len(m.sigmoids) != 2*len(m.bias) {
			t.Errorf("%d classes: other machines", classes)
		}
		right := 0
		for i, o := range outcomes(t, result.Model, records) {
			sum := 0.0
			for _, p := range o.Scores {
				sum += p
			}
			best := rank.First(o.Scores)
			if math.Abs(sum-1) > 1e-12 || o.Value != o.Scores[best] || o.Label != string(rune('a'+best)) {
				t.Errorf("record %d: %+v", i, o)
			}
			if o.Label == records[i].Label {
				right++
			}
		}
		if right < 60 {
			t.Errorf("%d classes: %d of 120 are right", classes, right)
		}
		if a := m.sigmoids[0]; a >= 0 {
			t.Errorf("%d classes: A is %v", classes, a)
		}
	}
}

func equalMachines(a, b *model) bool {
	if len(a.alpha) != len(b.alpha) || a.rounds != b.rounds {
		return false
	}
	for i, v := range a.alpha {
		if b.alpha[i] != v {
			return false
		}
	}
	return true
}

// Probabilities depend neither on blocks nor on shards or kernel sets. A fold may have all records of a class.
func TestProbabilitiesOfAnyBlocks(t *testing.T) {
	records := groups(60, 3, 3)
	for i := range records { // names that no shard changes
		records[i].ID = fmt.Sprint(i)
		if i%3 == 2 && i > 6 {
			records[i].Label = "a"
		}
	}
	want := ""
	for i, set := range kernelops.All() {
		params := fmt.Sprintf(`{"probability":true,"blocks":%d,"working_set":16}`, 1+2*i)
		result, err := tryRun(t, params, jobstest.Deal(records, i+1), set)
		if err != nil {
			t.Fatal(err)
		}
		digest := jobstest.Digest(result.Model)
		if want == "" {
			want = digest
		}
		if digest != want {
			t.Errorf("%s: another model", set.Name)
		}
	}
}

func TestBadProbabilities(t *testing.T) {
	_, err := New(specOf(`{"probability":true,"mode":"regress"}`))
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
		t.Errorf("probabilities of numbers: %v", err)
	}
	_, result := train(t, `{"probability":true}`, groups(30, 2, 2))
	for _, list := range [][]float64{{1, math.NaN()}, {1, 2, 3, 4}} {
		jobs.Put(result.Model, "probability.sigmoids", list, len(list)/2, 2)
		if _, err := readModel(result.Model); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%v: %v", list, err)
		}
	}
	w := walk{training: &training{calibrating: newCalibrating(1)}, before: coefficients{alpha: make([]float64, 2),
		f: make([]float64, 2)}}
	if err := w.carryOver(0, 2); !errors.As(err, &fault) {
		t.Errorf("coefficients without decisions: %v", err)
	}
}
