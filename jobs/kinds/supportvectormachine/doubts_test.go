package supportvectormachine

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
)

// warnings are those of a job, as one text.
func warnings(t *testing.T, result jobstest.Result) string {
	t.Helper()
	var all []string
	for _, m := range result.Metrics {
		if m.Name == jobs.WarningsMetric {
			var some []string
			if err := jobs.ReadMetric([]jobs.Metric{m}, m.Name, &some); err != nil {
				t.Fatal(err)
			}
			all = append(all, some...)
		}
	}
	return strings.Join(all, "\n")
}

// Probabilities that say nothing about the decision come with a warning, as do those of folds that ended early.
func TestDoubtfulProbabilities(t *testing.T) {
	light := groups(60, 2, 2)
	for i := range light {
		light[i].Weight = 1e-6
	}
	two := jobstest.DenseRecords([][]float32{{0}, {1}}, "a", "b")
	for name, c := range map[string]struct {
		params  string
		records []jobstest.Record
		says    string
	}{
		"clear": {`{"probability":true}`, groups(60, 2, 2), ""},
		"two":   {`{"probability":true}`, two, "1 of 1 machines, b against a the first, have a sigmoid that does not rise"},
		"light": {`{"probability":true,"C":1e6}`, light, "they weigh too little"},
		"unfinished": {`{"probability":true,"max_rounds":1,"working_set":4}`, groups(60, 2, 2),
			"without fold 5, training ended in round 1 with a violation"},
	} {
		_, result := train(t, c.params, c.records)
		if got := warnings(t, result); !strings.Contains(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
