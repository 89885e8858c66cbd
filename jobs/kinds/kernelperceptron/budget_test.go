package kernelperceptron_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

var table = flag.Bool("kernelperceptron.budgets", false, "log the accuracies by budget of docs/perceptrons.md")

// A small budget costs the last f much, and the mean of all f little.
func TestAccuracyByBudget(t *testing.T) {
	budgets := []int{100}
	if *table {
		budgets = []int{100, 200, 400}
	}
	records := digits(t, 1797)
	train, test := records[:1200], records[1200:]
	for _, drop := range []string{"oldest", "smallest"} {
		for _, budget := range budgets {
			accuracy := map[string]float64{}
			for _, form := range []string{"plain", "averaged", "voted"} {
				params := fmt.Sprintf(
					`{"kernel": "rbf", "gamma": 2, "features": {"scale": "l2"}, "form": %q, "drop": %q, "budget": %d,
					"block_records": 16384}`,
					form, drop, budget)
				result := mustRun(t, params, jobstest.Deal(train, 3))
				accuracy[form] = 1 - float64(errorsOf(t, result.Model, test))/float64(len(test))
				supports, _ := metric(t, result, "train.supports")
				dropped, _ := metric(t, result, "train.dropped")
				t.Logf("%s, %d, %s: %.3f, %v support vectors, %v dropped", drop, budget, form, accuracy[form], supports,
					dropped)
			}
			if budget == 100 && (accuracy["averaged"] < accuracy["plain"]+0.1 ||
				accuracy["voted"] < accuracy["plain"]+0.1) {
				t.Errorf("%s, %d: %v", drop, budget, accuracy)
			}
		}
	}
}
