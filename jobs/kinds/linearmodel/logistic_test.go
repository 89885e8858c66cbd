package linearmodel

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestLogisticAgainstScikitLearn(t *testing.T) {
	records := irises(t)
	for _, want := range readOracle(t).Logistic {
		params := fmt.Sprintf(`{"loss":"logistic","C":%g,"tol":1e-9,"blocks":3}`, want.C)
		m := trainTo(t, params, 1e-9, records)
		for k, fitted := range want.Machines {
			fitted.check(t, params, m, k)
		}
	}
}

// One model, to the bit, for any shards, kernel sets and groupings, and it says that its gap is assumed.
func TestOneLogisticModel(t *testing.T) {
	records := groups(230, 5, 3, true)
	const params = `{"loss":"logistic","blocks":6,"max_rounds":3,"tol":1e-9}`
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

// Wide vectors have no solver of the logistic loss, and the fault says so.
func TestWideLogistic(t *testing.T) {
	algorithm := job{}
	algorithm.Params.Loss, algorithm.Params.Solver = "logistic", solverAuto
	m := &model{space: &features.Space{Width: 1 << 12}, loss: algorithm.Params.loss()}
	var fault *protocol.Fault
	if _, err := algorithm.solver(m); !errors.As(err, &fault) || fault.Code != protocol.CodeInputLimit ||
		!strings.Contains(err.Error(), "loss logistic takes solver newton") {
		t.Error(err)
	}
	m.space.Width = 1200 // more than auto takes otherwise
	if solver, err := algorithm.solver(m); err != nil || solver != newtonName {
		t.Error(solver, err)
	}
}
