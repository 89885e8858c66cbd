package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/compare"
)

const diffSpec = `{"apiVersion":"v1","kind":"NaiveBayes","spec":{"input":{"uri":"file://DIR/texts.tsv","format":"tsv",
	"label":1,"text":2,"shard_bytes":400},"output":{"uri":"file://DIR/OUT/"},"params":{"alpha":ALPHA}}}`

// diffRun trains over texts, and returns the folder of the model.
func diffRun(t *testing.T, c *session, out, alpha string, texts []string) string {
	t.Helper()
	c.write("texts.tsv", strings.Join(texts, ""))
	spec := strings.NewReplacer("DIR", c.app.dir, "OUT", out, "ALPHA", alpha).Replace(diffSpec)
	return strings.TrimSuffix(modelOfRun(t, c, spec), "model.safetensors")
}

// Two jobs that differ in one line, in one parameter, or in nothing: the exit code, the first node, and what is told.
func TestDiff(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	var texts []string
	for i := range 100 {
		texts = append(texts, []string{"sea\tthe tide is high\n", "land\tthe hill is steep\n"}[i%2])
	}
	first := diffRun(t, c, "one", "1", texts)
	again := diffRun(t, c, "two", "1", texts)
	smooth := diffRun(t, c, "three", "2", texts)
	texts[70] = "sea\tthe tide is low\n"
	changed := diffRun(t, c, "four", "1", texts)

	c.want(0, c.run("diff", first, again))
	if out := c.stdout.String(); !strings.Contains(out, "the same in all 2 rounds") {
		t.Errorf("printed\n%s", out)
	}
	d := diffOf(t, c, first, smooth)
	if d.Nodes.Round != 0 || !strings.Contains(d.Nodes.Says, "the last step made another model") || len(d.Spec) != 2 ||
		d.Spec[1].Path != "spec.params.alpha" {
		t.Errorf("alpha: %+v", d)
	}
	d = diffOf(t, c, first, changed)
	if d.Nodes.Round != 1 || d.Nodes.Level != 0 || d.Nodes.Index != 4 || d.Nodes.Leaves != 1 || len(d.Input) != 1 {
		t.Errorf("one line: nodes %+v, input %+v", d.Nodes, d.Input)
	}
	c.want(3, c.run("diff", first, c.app.dir+"/nowhere/"))
}

func diffOf(t *testing.T, c *session, a, b string) (d compare.Difference) {
	t.Helper()
	c.stdout.Reset()
	c.want(9, c.run("diff", a, b, "-o", "json"))
	if err := json.Unmarshal(c.stdout.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Names that differ at their end, and values that share a long beginning, are told apart in 24 columns.
func TestWhatDiffersIsShown(t *testing.T) {
	left, right := diffValues(`"file:///data/of/2026/first/"`, `"file:///data/of/2026/second/"`)
	if left != `.../2026/first/"` || right != `.../2026/second/"` {
		t.Errorf("%s and %s", left, right)
	}
	if left, right = diffValues(`"euclidean"`, ""); left != `"euclidean"` || right != "-" {
		t.Errorf("%s and %s", left, right)
	}
	left, right = diffValues(strings.Repeat("1", 30), strings.Repeat("2", 30))
	if left != strings.Repeat("1", 21)+"..." || right != strings.Repeat("2", 21)+"..." {
		t.Errorf("%s and %s", left, right)
	}
	if got := shortenStart("spec.params.features.text.lowercase", 28); got != "...s.features.text.lowercase" {
		t.Errorf("%s", got)
	}
	for path, want := range map[string]string{"input a.csv": "input a.csv", "queries a.csv": "queries a.csv",
		"model": "input model"} {
		if got := rowName("input", path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
