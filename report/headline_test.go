package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// The tiles of a kind, by hand.
func TestHeadline(t *testing.T) {
	const judged = `{"records":30,"rejected":1,"correct":29,"accuracy":0.9666666,"macro":{"f1":0.5},"labels":[{},{},{}]}`
	for name, c := range map[string]struct {
		metrics [][2]string
		want    string
	}{
		"nothing": {nil, "time 1.5 s"},
		"naive Bayes": {[][2]string{{"counts.records", "117659"}, {"vocabulary.documents", "94147"},
			{"evaluation", judged}},
			"accuracy 96.67 % (29 of 30 test records, 1 rejected); macro F1 50.00 % (the mean over 3 labels); " +
				"records 94,147 (in training); time 1.5 s"},
		"k-means": {[][2]string{{"features.records", "150"}, {"lloyd.001.distortion", "99"},
			{"kmeans.distortion", "78.8514"}, {"kmeans.sizes", "[50,62,38]"}},
			"J 78.8514 (the sum of the squared distances to the nearest center); k 3 (clusters); " +
				"records 150 (in training); time 1.5 s"},
		"k-means whose first round is forgotten": {[][2]string{{"kmeans.sizes", "[50,62,38]"}},
			"k 3 (clusters); records 150 (in the clusters); time 1.5 s"},
		"regression": {[][2]string{{"evaluation.regression", `{"records":9,"r2":0.5,"mean_squared_error":2}`}},
			"R² 0.5000 (over 9 test records); mean squared error 2; time 1.5 s"},
		"novelty": {[][2]string{{"evaluation.novelty", `{"auc":null,"detected":3,"novel":4}`}},
			"detected 3 of 4 (novel test records); time 1.5 s"},
		"folds": {[][2]string{{"evaluation.folds", `{"folds":[{},{}],"summary":[{"figure":"accuracy","mean":0.5,` +
			`"deviation":0.25}]}`}}, "accuracy 0.5000 (± 0.2500 over 2 folds); time 1.5 s"},
		"another form": {[][2]string{{"evaluation", `[]`}, {"kmeans.distortion", `"x"`}, {"svm.gap", "null"}},
			"time 1.5 s"},
	} {
		var metrics []jobs.Metric
		for _, m := range c.metrics {
			metrics = append(metrics, jobs.Metric{Name: m[0], Value: json.RawMessage(m[1])})
		}
		var words []string
		for _, tile := range Headline(metrics, 1.5) {
			text := tile.Name + " " + tile.Value
			if tile.Note != "" && tile.Name != "time" {
				text += fmt.Sprintf(" (%s)", tile.Note)
			}
			words = append(words, text)
		}
		if got := strings.Join(words, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
