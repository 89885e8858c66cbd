package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/style"
)

// Tile is a number that matters, at the head of the page.
type Tile struct{ Name, Value, Note string }

// mostFound is how many tiles tell what the job found; those of its records and its time follow.
const mostFound = 2

// findings are what the tiles are made of, by metric, in the order in which they are chosen: how well a model does
// before what it is.
var findings = []struct {
	metric string
	tiles  func(json.RawMessage) []Tile
}{
	{"evaluation", reading(accuracyTiles)},
	{"evaluation.regression", reading(regressionTiles)},
	{"evaluation.novelty", reading(noveltyTiles)},
	{"evaluation.folds", reading(foldTiles)},
	{"kmeans.distortion", reading(one("J", "the sum of the squared distances to the nearest center"))},
	{"kmeans.sizes", reading(clusterTiles)},
	{"svm.supports", reading(counted("support vectors", ""))},
	{"svm.gap", reading(one("gap", "between primal and dual, at most"))},
	{"linear.gap", reading(one("gap", "between primal and dual, at most"))},
	{"perceptron.training_mistakes", reading(counted("mistakes", "in the last epoch of training"))},
	{"train.mistakes", reading(counted("mistakes", "in training"))},
	{"train.supports", reading(counted("support vectors", ""))},
	{"graph.edges", reading(counted("edges", "of the graph"))},
	{"neighbors.queries", reading(counted("queries", ""))},
	{"neighbors.listed", reading(counted("neighbors", "listed"))},
	{"kernelmatrix.rows", reading(counted("rows", "of the matrix"))},
	{"kernelmatrix.columns", reading(counted("columns", "of the matrix"))},
	{"vocabulary.labels", reading(counted("labels", ""))},
	{"vocabulary.terms_kept", reading(counted("terms", "in the vocabulary"))},
	{"features.labels", reading(counted("labels", ""))},
	{"features.width", reading(counted("columns", ""))},
}

// recordCounts are the metrics that count the records, the first of them that there is.
var recordCounts = []struct{ metric, note string }{
	{"predict.records", "predicted"}, {"vocabulary.documents", "in training"}, {"features.records", "in training"},
	{"means.records", "in training"}, {"base.records", "in training"}, {"index.records", "in the index"},
	{"kernelmatrix.rows", "of the matrix"}, {"kmeans.sizes", "in the clusters"}, {"counts.records", "read"},
}

// Headline is the few numbers that matter: what the job found, over how many records, in what time.
func Headline(metrics []jobs.Metric, seconds float64) (tiles []Tile) {
	values := make(map[string]json.RawMessage, len(metrics))
	for _, m := range metrics {
		values[m.Name] = m.Value // the last counts
	}
	for _, f := range findings {
		if value, ok := values[f.metric]; ok && len(tiles) < mostFound {
			tiles = append(tiles, f.tiles(value)...)
		}
	}
	tiles = tiles[:min(len(tiles), mostFound)]
	for _, r := range recordCounts {
		if n, ok := countIn(values[r.metric]); ok {
			tiles = append(tiles, Tile{"records", style.Count(n), r.note})
			break
		}
	}
	return append(tiles, Tile{"time", style.Clock(seconds), "from submission to the end of the last round"})
}

// countIn is a number, or the sum of a list of numbers.
func countIn(value json.RawMessage) (n int64, ok bool) {
	var list []int64
	if json.Unmarshal(value, &list) == nil && len(list) > 0 {
		for _, m := range list {
			n += m
		}
		return n, true
	}
	return n, json.Unmarshal(value, &n) == nil && string(value) != "null"
}

// reading makes tiles of a value; none of a value of another form.
func reading[V any](tiles func(V) []Tile) func(json.RawMessage) []Tile {
	return func(raw json.RawMessage) []Tile {
		var v V
		if json.Unmarshal(raw, &v) != nil || strings.TrimSpace(string(raw)) == "null" {
			return nil
		}
		return tiles(v)
	}
}

func one(name, note string) func(float64) []Tile {
	return func(v float64) []Tile {
		text := fmt.Sprintf("%.6g", v)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			text = style.Count(n)
		}
		return []Tile{{name, text, note}}
	}
}

func counted(name, note string) func(int64) []Tile {
	return func(n int64) []Tile { return []Tile{{name, style.Count(n), note}} }
}

func clusterTiles(sizes []int64) []Tile {
	return []Tile{{"k", style.Count(int64(len(sizes))), "clusters"}}
}

func inPercent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// decisions is what is read of the metric "evaluation".
type decisions struct {
	Records  int64   `json:"records"`
	Rejected int64   `json:"rejected"`
	Correct  int64   `json:"correct"`
	Accuracy float64 `json:"accuracy"`
	Macro    struct {
		F1 float64 `json:"f1"`
	} `json:"macro"`
	Labels []struct{} `json:"labels"`
}

func accuracyTiles(d decisions) []Tile {
	note := fmt.Sprintf("%s of %s test records", style.Count(d.Correct), style.Count(d.Records))
	if d.Rejected > 0 {
		note += fmt.Sprintf(", %s rejected", style.Count(d.Rejected))
	}
	return []Tile{{"accuracy", inPercent(d.Accuracy), note},
		{"macro F1", inPercent(d.Macro.F1), "the mean over " + protocol.Counted(len(d.Labels), "label")}}
}

// errorsOf is what is read of the metric "evaluation.regression".
type errorsOf struct {
	Records int64   `json:"records"`
	R2      float64 `json:"r2"`
	MSE     float64 `json:"mean_squared_error"`
}

func regressionTiles(e errorsOf) []Tile {
	return []Tile{{"R²", fmt.Sprintf("%.4f", e.R2), "over " + style.Count(e.Records) + " test records"},
		{"mean squared error", fmt.Sprintf("%.6g", e.MSE), ""}}
}

// detections is what is read of the metric "evaluation.novelty".
type detections struct {
	AUC      *float64 `json:"auc"`
	Detected int64    `json:"detected"`
	Novel    int64    `json:"novel"`
}

func noveltyTiles(d detections) (tiles []Tile) {
	if d.AUC != nil {
		tiles = append(tiles, Tile{"AUC", fmt.Sprintf("%.4f", *d.AUC), ""})
	}
	return append(tiles, Tile{"detected", fmt.Sprintf("%s of %s", style.Count(d.Detected), style.Count(d.Novel)),
		"novel test records"})
}

// crossed is what is read of the metric "evaluation.folds".
type crossed struct {
	Folds     []struct{} `json:"folds"`
	Summaries []struct {
		Figure    string  `json:"figure"`
		Mean      float64 `json:"mean"`
		Deviation float64 `json:"deviation"`
	} `json:"summary"`
}

func foldTiles(c crossed) (tiles []Tile) {
	for _, s := range c.Summaries {
		tiles = append(tiles, Tile{s.Figure, fmt.Sprintf("%.4f", s.Mean),
			fmt.Sprintf("± %.4f over %s", s.Deviation, protocol.Counted(len(c.Folds), "fold"))})
	}
	return tiles
}
