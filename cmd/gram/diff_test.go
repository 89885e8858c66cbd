package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/compare"
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

// A file that cannot be used is named with its job, a model that is not the one of its record is told, and both
// point to gram verify.
func TestDiffOfDamagedFolders(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	texts := []string{strings.Repeat("sea\tthe tide is high\nland\tthe hill is steep\n", 30)}
	first, second := diffRun(t, c, "one", "1", texts), diffRun(t, c, "two", "2", texts)
	path := strings.TrimPrefix(second, "file://")
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	model := read(path + "model.safetensors")
	c.replace(path+"model.safetensors", read(strings.TrimPrefix(first, "file://")+"model.safetensors"))
	if d := diffOf(t, c, first, second); !d.SameModel || d.Other != [2]bool{false, true} {
		t.Errorf("the first model in the second folder: %+v", d)
	}
	c.wantSays("the model of " + second + " is not the one that the job's record names")
	c.wantSays("`gram verify " + second + "` tells what is false there.")
	c.replace(path+"model.safetensors", model)

	for _, name := range []string{"model.safetensors", "report.json", "provenance.json", "proof/manifest.json",
		"proof/rounds/000001.safetensors"} {
		data := read(path + name)
		before := len(c.stderr.String())
		c.replace(path+name, []byte("rubbish"))
		if name == "proof/rounds/000001.safetensors" { // is read only where rounds differ
			texts[0] = "sea\tlow\n" + texts[0]
			first = diffRun(t, c, "three", "1", texts)
		}
		c.want(9, c.run("diff", first, second))
		if said := c.stderr.String()[before:]; !strings.Contains(said, name+" of "+second+" cannot be used") ||
			!strings.Contains(said, "`gram verify "+second) {
			t.Errorf("%s", said)
		}
		c.replace(path+name, data)
	}
}

// Counts are written out, and other figures with a few digits.
func TestFiguresOfADifference(t *testing.T) {
	for _, c := range []struct {
		left, right  float64
		text, change string
	}{
		{1_234_567, 1_233_357, "1234567", "-1210"}, {0.5, 0.61234567, "0.5", "+0.112"}, {0, 1, "0", "+1"},
		{1e18, 2, "1e+18", "-1e+18"}, {1_234_567.5, 1_233_357, "1.23457e+06", "-1.21e+03"},
	} {
		if got := shortNumber(c.left); got != c.text {
			t.Errorf("%v: %s, want %s", c.left, got, c.text)
		}
		if got := change(c.left, c.right); got != c.change {
			t.Errorf("%v to %v: %s, want %s", c.left, c.right, got, c.change)
		}
	}
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
