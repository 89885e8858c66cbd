package runreport

import (
	"encoding/json"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

func TestTextsOfScores(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"evaluation.scores": {`{"accuracy":0.5,"log_loss":0.25,"brier":0.125}`,
			"log loss 0.2500, Brier score 0.1250, accuracy 0.5000 without rejection"},
		"evaluation.ranking": {`{"classes":[{"auc":0.75,"average_precision":null,"auc_interval":{"low":0.5,"high":1}}]}`,
			"AUC 0.7500 (0.5000 to 1.0000), average precision none"},
		"evaluation.regression": {`{"records":1,"r2":0.5,"intervals":{"r2":{"low":0.25,"high":0.75}}}`,
			"R2 0.5000 (0.2500 to 0.7500), MSE 0, MAE 0, 1 test record"},
		"evaluation.risk": {`{"asked":0.01,"threshold":0.875,"coverage":0.5,"errors":0.005}`,
			"from confidence 0.875 on, 0.5000 of the records with 0.0050 wrong"},
		"evaluation.bootstrap": {`{"confidence":0.95,"accuracy":{"low":0.5,"high":0.75}}`, "accuracy 0.5000 to 0.7500 at 0.95"},
		"evaluation.split":     {`{"parts":[3,4],"groups":5}`, "2 folds of 3 to 4 records, of 5 groups"},
		"evaluation.folds": {`{"folds":[{},{}],"summary":[{"figure":"accuracy","mean":0.5,"deviation":0.25}]}`,
			"accuracy 0.5000, deviation 0.2500, over 2 folds"},
	} {
		rows := MetricRows([]jobs.Metric{{Name: name, Value: json.RawMessage(c.value)}})
		if len(rows) != 1 || rows[0][1] != c.want {
			t.Errorf("%s: %q, not %q", name, rows, c.want)
		}
		if rows := MetricRows([]jobs.Metric{{Name: name, Value: json.RawMessage(`[]`)}}); len(rows) != 0 {
			t.Errorf("%s of another form: %q", name, rows)
		}
	}
}
