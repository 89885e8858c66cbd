package linearmodel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

func TestLogisticAgainstScikitLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains to small gaps by both solvers; make test-all runs it")
	}
	records := irises(t)
	for _, want := range readOracle(t).Logistic {
		for solver, tol := range map[string]float64{newtonName: 1e-9, ascendName: 1e-2} {
			params := fmt.Sprintf(`{"loss":"logistic","C":%g,"tol":%g,"blocks":3,"solver":%q,"max_rounds":999}`, want.C,
				tol, solver)
			m := trainTo(t, params, tol, records)
			for k, fitted := range want.Machines {
				fitted.check(t, params, m, k)
			}
		}
	}
}

// One model, to the bit, for any shards, kernel sets and groupings, and it says that its gap is assumed.
func TestOneLogisticModel(t *testing.T) {
	records := groups(230, 5, 3, true)
	for _, solver := range solvers {
		params := fmt.Sprintf(`{"loss":"logistic","blocks":6,"max_rounds":3,"tol":1e-9,"solver":%q}`, solver)
		checkLogistic(t, params, records)
	}
}

func checkLogistic(t *testing.T, params string, records []jobstest.Record) {
	t.Helper()
	m, whole := train(t, params, records)
	for _, ops := range kernelops.All() {
		result, err := tryRun(t, params, [][]jobstest.Record{records[:17], nil, records[17:100], records[100:]}, ops)
		if err != nil || jobstest.Digest(result.Model) != jobstest.Digest(whole.Model) {
			t.Errorf("%s: another model, or %v", ops.Name, err)
		}
	}
	page, err := Kind().Describe(whole.Model, jobs.DescribeOptions{})
	if err != nil || strings.Contains(page, "proved") || !strings.Contains(page, "assumed      the objective") {
		t.Errorf("%v\n%s", err, page)
	}
	figures, err := m.figures(whole.Metrics)
	if err != nil || figures[1].Title != "What is assumed" || !strings.Contains(figures[1].Caption, "exp and log") {
		t.Errorf("%+v, %v", figures, err)
	}
	var warnings []string
	if err := jobs.ReadMetric(whole.Metrics, jobs.WarningsMetric, &warnings); err != nil ||
		!strings.Contains(strings.Join(warnings, ""), "the gap that is assumed") {
		t.Errorf("%q, %v", warnings, err)
	}
	wantCorrupt(t, "proved", whole.Model, func(a jobs.Arrays) { a.PutText("training.gap", gapProved) })
	wantCorrupt(t, "no word", whole.Model, func(a jobs.Arrays) { delete(a, "training.gap") })
}
