package clustertest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
)

// cutRows are lines of CSV: a label, columns of other scales, ranges and offsets, so that sums round, and an id.
func cutRows(n int) []string {
	r := rand.New(rand.NewPCG(5, 12))
	lines := make([]string, n)
	for i := range lines {
		class := i % 3
		lines[i] = fmt.Sprintf("%c,%g,%g,%g,%g,%d\n", 'a'+class, float32(class)+float32(r.NormFloat64()),
			1e6+float32(r.NormFloat64()), float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-30)), float32(r.IntN(9)),
			i*7919%100_003)
	}
	return lines
}

// cutTexts are cutRows with a further column, of words.
func cutTexts(n int) []string {
	r := rand.New(rand.NewPCG(5, 14))
	lines := cutRows(n)
	for i, line := range lines {
		words := make([]string, 1+r.IntN(8))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", i%3+r.IntN(40))
		}
		lines[i] = strings.TrimSuffix(line, "\n") + "," + strings.Join(words, " ") + "\n"
	}
	return lines
}

// cutCounts are lines of libsvm: a label, counts, and an id.
func cutCounts(n int) []string {
	r := rand.New(rand.NewPCG(5, 13))
	lines := make([]string, n)
	for i := range lines {
		class, line := i%3, ""
		for column := 1; column <= 30; column++ {
			if count := r.IntN(4) - class*column%2; count > 0 {
				line += fmt.Sprintf(" %d:%d", column, count)
			}
		}
		lines[i] = fmt.Sprintf("%d%s # %d\n", class, line, i*7919%100_003)
	}
	return lines
}

// cutTables are folders of one table: as one file, as seven, and as one without its last twenty lines.
type cutTables struct{ one, seven, short string }

func newCutTables(t *testing.T, lines []string) cutTables {
	t.Helper()
	home := t.TempDir()
	tables := cutTables{filepath.Join(home, "one"), filepath.Join(home, "seven"), filepath.Join(home, "short")}
	write := func(folder, name string, lines []string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(tables.one, "all", lines)
	write(tables.short, "all", lines[:len(lines)-20])
	for i := range 7 {
		write(tables.seven, fmt.Sprintf("part-%d", i), lines[i*len(lines)/7:(i+1)*len(lines)/7])
	}
	return tables
}

// cutSizes are sizes of shards, for a folder in one file or seven.
var cutSizes = []struct {
	seven bool
	size  string
}{{false, "1KiB"}, {false, "64KiB"}, {false, "8MiB"}, {true, "8MiB"}}

const (
	vectorColumns = `"format":"csv","label":1,"features":[2,3,4,5]`
	textColumn    = `"format":"csv","label":1,"text":7`
	counts        = `"format":"libsvm","width":30,"index_base":1`
	heldOut       = `,"split":{"test":0.2}`
)

// cutCase is a kind whose models are compared.
type cutCase struct {
	kind, params string
	files        bool   // also cut into files: nothing goes by the name of a file
	ids          bool   // records are named by ids, and some are held out
	blocks       string // what in params gives another model: other blocks
}

var vectorCuts = []cutCase{
	{"GaussianNaiveBayes", `{}`, true, false, ""},
	{"GaussianNaiveBayes", `{}`, true, true, ""},
	{"NearestMean", `{"features":{"scale":"standard"}}`, true, false, ""},
	{"KMeans", `{"k":3,"init":"given","centers":[[0,1e6,0,1],[1,1e6,0,4],[2,1e6,0,7]]}`, true, false, ""},
	{"KMeans", `{"k":5}`, false, false, ""},
	{"KMeans", `{"k":5}`, true, true, ""},
	{"KMeans", `{"k":5,"init":"kmeans++"}`, true, true, ""},
	{"KMeans", `{"k":5,"init":"random"}`, true, true, ""},
	{"KernelDensityBayes", `{"features":{"scale":"standard"}}`, true, false, ""},
	{"KernelNearestMean", `{"kernel":"rbf","gamma":0.5,"features":{"scale":"standard"}}`, true, false, ""},
	{"NearestNeighbors", `{"store_base":true,"leave_one_out":false,"features":{"scale":"standard"}}`, true, false,
		""},
	{"NearestNeighbors", `{"mode":"classify","store_base":true}`, true, true, ""},
	{"Perceptron", `{"shuffle":false,"features":{"scale":"standard"}}`, true, false, ""},
	{"Perceptron", `{"features":{"scale":"standard"},"block_records":700}`, true, false, "700 to 701"},
	{"Perceptron", `{"features":{"scale":"standard"},"block_records":700}`, true, true, "700 to 701"},
	{"Perceptron", `{"over":"mixed","features":{"scale":"standard"},"block_records":700}`, true, false, "700 to 701"},
	{"KernelPerceptron", `{"epochs":2,"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true,
		false, "700 to 701"},
	{"KernelPerceptron", `{"epochs":2,"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true,
		true, "700 to 701"},
	{"LinearModel", `{"features":{"scale":"standard"},"blocks":7}`, true, false, `:7 to :6`},
	{"LinearModel", `{"solver":"ascend","max_rounds":5,"features":{"scale":"standard"},"blocks":7}`, true, true,
		`:7 to :6`},
	{"SupportVectorMachine", `{"features":{"scale":"standard"},"working_set":64}`, true, false, ""},
	{"SupportVectorMachine", `{"features":{"scale":"standard"},"working_set":64}`, true, true, ""},
	{"SupportVectorMachine", `{"mode":"one_class","features":{"scale":"standard"},"working_set":64}`, true, false, ""},
	{"SupportVectorMachine", `{"mode":"one_class","novelty":{"labels":["c"]},"features":{"scale":"standard"}}`, true,
		true, ""},
	{"NoveltyDetector", `{"novelty":{"validation":0},"features":{"scale":"standard"}}`, true, false, ""},
	{"NoveltyDetector", `{"detector":"kernel_density","novelty":{"labels":["c"]}}`, true, true, ""},
	{"KernelMatrix", `{"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true, false, "700 to 701"},
}

// A table cut into shards of other sizes, or into seven files, gives the same model. Another table gives another, and
// so does another size of the logical blocks of kinds that are bound to an order of the records.
func TestCutsAndTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("runs gram 120 times; make test-all does")
	}
	t.Parallel()
	rows, sparse := newCutTables(t, cutTexts(3000)), newCutTables(t, cutCounts(3000))
	for _, c := range vectorCuts {
		input := vectorColumns
		if c.ids {
			input += `,"id":6` + heldOut
		}
		compareCuts(t, rows, c, input)
	}
	for _, c := range []struct {
		tables        cutTables
		params, input string
		ids           bool
	}{
		{rows, `{}`, textColumn, false},
		{rows, `{"form":"complement","text":{"ngram_max":2,"min_df":3}}`, textColumn + `,"id":6` + heldOut, true},
		{sparse, `{"form":"bernoulli"}`, counts, false},
		{sparse, `{}`, counts + `,"id":"comment"` + heldOut, true},
	} {
		compareCuts(t, c.tables, cutCase{"NaiveBayes", c.params, true, c.ids, ""}, c.input)
	}
}

func compareCuts(t *testing.T, tables cutTables, c cutCase, input string) {
	t.Helper()
	want := ""
	for _, cut := range cutSizes {
		folder := tables.one
		if cut.seven {
			folder = tables.seven
		}
		if cut.seven && !c.files {
			continue
		}
		got := cutModel(t, c.kind, c.params, folder, fmt.Sprintf(`"shard_bytes":%q,%s`, cut.size, input)).SHA256
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s %s (ids: %t) in shards of %s of %s: model %s, want %s", c.kind, c.params, c.ids, cut.size,
				filepath.Base(folder), got, want)
		}
	}
	other, folder := c.params, tables.short
	if c.blocks != "" {
		from, to, _ := strings.Cut(c.blocks, " to ")
		other, folder = strings.Replace(c.params, from, to, 1), tables.one
	}
	if cutModel(t, c.kind, other, folder, `"shard_bytes":"8MiB",`+input).SHA256 == want {
		t.Errorf("%s %s of %s: the same model", c.kind, other, filepath.Base(folder))
	}
}

// Predictions are the same, in order, in shards of every size and in seven files: with ids to the byte, without them
// but for the places that name the records in other files.
func TestCutsAndThePredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("runs gram 30 times; make test-all does")
	}
	t.Parallel()
	tables := newCutTables(t, cutTexts(3000))
	for _, c := range []struct{ kind, params, columns, id string }{
		{"GaussianNaiveBayes", `{"reject_below":0.5}`, vectorColumns, `,"id":6`},
		{"NaiveBayes", `{}`, textColumn, ""},
		{"KernelDensityBayes", `{"features":{"scale":"standard"}}`, vectorColumns, ""},
	} {
		model := cutModel(t, c.kind, c.params, tables.short, c.columns)
		first := ""
		for i, cut := range cutSizes {
			folder := tables.one
			if cut.seven {
				folder = tables.seven
			}
			input := fmt.Sprintf(`"shard_bytes":%q,%s%s`, cut.size, c.columns, c.id)
			got := cutPredictions(t, model.URI, folder, input)
			if i == 0 {
				first = got
				checkPredictions(t, c.kind, got)
			}
			want := first
			if c.id == "" && cut.seven {
				got, want = withoutPlaces(got), withoutPlaces(want)
			}
			if got != want {
				t.Errorf("%s (id: %q) in shards of %s of %s: other predictions, first\n%s\nwant\n%s", c.kind, c.id,
					cut.size, filepath.Base(folder), firstOther(got, want), firstOther(want, got))
			}
		}
	}
}

// checkPredictions makes sure that there is something to compare: a line for each record, with all labels.
func checkPredictions(t *testing.T, kind, csv string) {
	t.Helper()
	if lines := strings.Count(csv, "\n"); lines != 3001 {
		t.Errorf("%s: %d lines of predictions of 3000 records", kind, lines)
	}
	for _, label := range []string{",a,", ",b,", ",c,"} {
		if !strings.Contains(csv, label) {
			t.Errorf("%s predicts no %s", kind, label)
		}
	}
}

// withoutPlaces cuts the columns object and offset off.
func withoutPlaces(csv string) string {
	var out strings.Builder
	for line := range strings.Lines(csv) {
		if fields := strings.SplitN(line, ",", 3); len(fields) == 3 {
			out.WriteString(fields[2])
		}
	}
	return out.String()
}

// firstOther is the first line of a text that another does not have at its place.
func firstOther(text, other string) string {
	b := strings.Split(other, "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(b) || line != b[i] {
			return fmt.Sprintf("%d: %s", i, line)
		}
	}
	return "none"
}

// cutPredictions predicts by a model, in one process, and returns the joined parts.
func cutPredictions(t *testing.T, model, folder, input string) string {
	t.Helper()
	list := cutRun(t, "Predict", `{"scores":true}`, folder, input, fmt.Sprintf(`"model":%q,`, model))
	at := strings.TrimSuffix(list.URI, list.Name)
	stdout, stderr, code := clustertest.Run(t.Context(), t, t.TempDir(), nil, nil, "get", at, "predictions")
	if code != 0 {
		t.Fatalf("get %s: exit code %d\n%s", at, code, stderr)
	}
	return stdout
}

// cutOutput is an output of a job.
type cutOutput struct{ Name, URI, SHA256 string }

// cutModel trains in one process and returns the model.
func cutModel(t *testing.T, kind, params, folder, input string) cutOutput {
	t.Helper()
	return cutRun(t, kind, params, folder, input, "")
}

// cutRun runs a job in one process and returns its model.
func cutRun(t *testing.T, kind, params, folder, input, more string) cutOutput {
	t.Helper()
	home := t.TempDir()
	spec := fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"cut"},"spec":{%s"input":{"uri":%q,%s},
		"params":%s,"repro":{"seed":7}}}`, kind, more, folder+"/", input, params)
	if err := os.WriteFile(filepath.Join(home, "spec.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := clustertest.Run(t.Context(), t, home, nil, nil, "run", "-f", "spec.json", "-o", "json")
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s", kind, params, code, stderr)
	}
	var view struct{ Outputs []cutOutput }
	if err := json.Unmarshal([]byte(stdout), &view); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	for _, output := range view.Outputs {
		if output.Name == "model.safetensors" {
			return output
		}
	}
	t.Fatalf("no model in %s", stdout)
	return cutOutput{}
}
