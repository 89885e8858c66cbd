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

// A table cut into shards of other sizes, or into seven files, gives the same model; of kinds that are bound to an
// order of the records, another size of their logical blocks gives another.
func TestCutsAndTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("runs gram 80 times; make test-all does")
	}
	t.Parallel()
	home := t.TempDir()
	one, seven := filepath.Join(home, "one"), filepath.Join(home, "seven")
	lines := cutRows(3000)
	write := func(folder, name string, lines []string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(one, "all.csv", lines)
	for i := range 7 {
		write(seven, fmt.Sprintf("part-%d.csv", i), lines[i*len(lines)/7:(i+1)*len(lines)/7])
	}
	for _, c := range []struct {
		kind, params string
		files        bool   // also cut into files: nothing goes by the name of a file
		ids          bool   // records are named by ids, and some are held out
		blocks       string // another block_records, which gives another model
	}{
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
		{"Perceptron", `{"features":{"scale":"standard"},"block_records":700}`, true, false, "701"},
		{"Perceptron", `{"features":{"scale":"standard"},"block_records":700}`, true, true, "701"},
		{"Perceptron", `{"over":"mixed","features":{"scale":"standard"},"block_records":700}`, true, false, "701"},
		{"KernelPerceptron", `{"epochs":2,"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true,
			false, "701"},
		{"KernelPerceptron", `{"epochs":2,"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true,
			true, "701"},
		{"KernelMatrix", `{"kernel":"rbf","features":{"scale":"standard"},"block_records":700}`, true, false, "701"},
	} {
		want, input := "", `"features":[2,3,4,5]`
		if c.ids {
			input += `,"id":6,"split":{"test":0.2}`
		}
		for _, cut := range []struct{ folder, size string }{{one, "1KiB"}, {one, "64KiB"}, {one, "8MiB"}, {seven, "8MiB"}} {
			if cut.folder == seven && !c.files {
				continue
			}
			got := cutModel(t, c.kind, c.params, cut.folder, fmt.Sprintf(`"shard_bytes":%q,%s`, cut.size, input))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s %s (ids: %t) in shards of %s of %s: model %s, want %s", c.kind, c.params, c.ids, cut.size,
					filepath.Base(cut.folder), got, want)
			}
		}
		if c.blocks == "" {
			continue
		}
		other := strings.Replace(c.params, "700", c.blocks, 1)
		if cutModel(t, c.kind, other, one, `"shard_bytes":"8MiB",`+input) == want {
			t.Errorf("%s: the same model by %s", c.kind, other)
		}
	}
}

// cutModel trains in one process and returns the digest of the model.
func cutModel(t *testing.T, kind, params, folder, input string) string {
	t.Helper()
	home := t.TempDir()
	spec := fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"cut"},"spec":{"input":{"uri":%q,"format":"csv",
		"label":1,%s},"params":%s,"repro":{"seed":7}}}`, kind, folder+"/", input, params)
	if err := os.WriteFile(filepath.Join(home, "spec.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := clustertest.Run(t.Context(), t, home, nil, nil, "run", "-f", "spec.json", "-o", "json")
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s", kind, params, code, stderr)
	}
	var view struct {
		Outputs []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal([]byte(stdout), &view); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	for _, output := range view.Outputs {
		if output.Name == "model.safetensors" {
			return output.SHA256
		}
	}
	t.Fatalf("no model in %s", stdout)
	return ""
}
