package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/jobs"
)

const scoredWords = "word,score\ngood,2\nbad,-3\nnot bad,4.5\n"

// importArgs imports a list into m.safetensors, with further flags.
func importArgs(list string, more ...string) []string {
	return append([]string{"model", "import", list, "--threshold", "1", "--labels", "neg,pos", "--out",
		"m.safetensors"}, more...)
}

// wantNarrow checks that what was printed has at most 80 columns.
func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("a line of more than 80 columns: %s", line)
		}
	}
}

// Worked by hand: "not bad" has 4.5 - 3 = 1.5, above 1 by 0.5; "bad good good" has 1, which is not above 1.
func TestImportScores(t *testing.T) {
	c := newClient(t)
	c.write("scores.csv", scoredWords)
	c.want(0, c.run(importArgs("scores.csv", "--header", "--ngram-max", "2")...))
	got := c.stdout.String()
	wantNarrow(t, strings.ReplaceAll(got, c.app.dir, ""))
	for _, want := range []string{"kind   LinearModel, imported, not learned\n", "words  3\n",
		"above  1 is pos, else neg\n", "sums   exact\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	c.stdout.Reset()
	c.want(0, c.run("model", "classify", "--model", "./m.safetensors", "not BAD", "bad good, good", "other", "good"))
	if want := "pos                   score 0.5  not BAD\n" + "neg                   score 0  bad good, good\n" +
		"neg                   score 1  other\n" + "pos                   score 1  good\n"; c.stdout.String() != want {
		t.Errorf("classified\n%s", c.stdout.String())
	}
	c.stdout.Reset()
	c.want(0, c.run("model", "show", "./m.safetensors"))
	wantNarrow(t, c.stdout.String())
	for _, want := range []string{"imported, not learned: nothing is proved of it", "above 1, else \"neg\"",
		"\"not bad\" 4.5"} {
		if !strings.Contains(c.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, c.stdout.String())
		}
	}
	c.want(exit.Failed, c.run("model", "learn", "./m.safetensors", "--out", "n.safetensors"))
	if !strings.Contains(c.stderr.String(), "the model was imported, not learned") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
	if err := os.Mkdir(filepath.Join(c.app.dir, "given"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.write("given/model.safetensors", string(c.read("m.safetensors")))
	c.want(exit.Missing, c.run("verify", "./given/"))
	if !strings.Contains(c.stderr.String(), "was imported: no job made it") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// The same words in another order, as tsv, are the same model but for the digest of the list.
func TestImportIsAFunctionOfTheList(t *testing.T) {
	c := newClient(t)
	c.write("scores.csv", scoredWords)
	c.write("other.tsv", "not bad\t4.50\nbad\t-3e0\ngood\t+2\n")
	c.want(0, c.run(importArgs("scores.csv", "--header", "--ngram-max", "2", "-o", "json")...))
	var view importedView
	if err := json.Unmarshal(c.stdout.Bytes(), &view); err != nil || view.Words != 3 || view.Threshold != 1 ||
		!view.Exact || !slices.Equal(view.Labels, []string{"neg", "pos"}) {
		t.Errorf("%+v, %v", view, err)
	}
	first := c.read("m.safetensors")
	c.want(0, c.run(importArgs("scores.csv", "--header", "--ngram-max", "2")...))
	if !slices.Equal(first, c.read("m.safetensors")) {
		t.Error("the same list makes other bytes")
	}
	c.want(0, c.run(importArgs("other.tsv", "--ngram-max", "2")...))
	a, err := jobs.Decode(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := jobs.Decode(c.read("m.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if a["imported.sha256"].DType == "" || slices.Equal(a["imported.sha256"].Data, b["imported.sha256"].Data) {
		t.Error("the lists have one digest")
	}
	delete(a, "imported.sha256")
	delete(b, "imported.sha256")
	if !slices.Equal(a.Encode(), b.Encode()) {
		t.Error("the order of lines shows")
	}
}

func TestImportRefuses(t *testing.T) {
	c := newClient(t)
	c.write("list.txt", "good,1\n")
	for want, args := range map[string][]string{
		"whether \"list.txt\" is csv or tsv is not known": importArgs("list.txt"),
		"no model of kind \"KMeans\" is imported": importArgs("list.txt", "--format", "csv", "--kind",
			"KMeans"),
		"--labels wants two labels, not 3": importArgs("list.txt", "--format", "csv", "--labels", "x"),
		"both labels are \"pos\"": {"model", "import", "list.txt", "--format", "csv", "--threshold", "1", "--labels",
			"pos,pos", "--out", "n"},
		"--threshold: \"inf\" is not a finite number": importArgs("list.txt", "--format", "csv", "--threshold", "inf"),
		"n-grams of 3 to 2 words": importArgs("list.txt", "--format", "csv", "--ngram-min", "3",
			"--ngram-max", "2"),
		"token_pattern \"(\"": importArgs("list.txt", "--format", "csv", "--token-pattern", "("),
	} {
		c.want(exit.Usage, c.run(args...))
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("no %q in stderr:\n%s", want, c.stderr)
		}
	}
	for text, want := range map[string]string{
		"good,1\nGood,2\n":     `list.csv, line 2: no text has the word "Good": the tokenizer makes ["good"] of it`,
		"good,1\nnot bad,2\n":  `list.csv, line 2: no text has the word "not bad"`,
		"good,1\n\ngood,2\n":   `list.csv, line 3: the word "good" has a score already, in line 1`,
		"good,NaN\n":           `list.csv, line 1: the score of "good": "NaN" is not a finite number`,
		"good,1\nbad\n":        `list.csv, line 2: 1 fields, not a word and its score`,
		"good,1e101\n":         `list.csv, line 1: the score of "good" is 1e+101`,
		"word,score\ngood,1\n": "give --header",
		"":                     "the list has no words",
		"good,0.1000000000000001\nbad,0.12345678901234567890\n": "line 2: the score of \"bad\": " +
			"\"0.12345678901234567890\" is not exact in float64",
	} {
		c.write("list.csv", text)
		c.want(exit.Failed, c.run(importArgs("list.csv")...))
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%q: no %q in stderr:\n%s", text, want, c.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(c.app.dir, "m.safetensors")); err == nil {
		t.Error("a list that was refused left a model")
	}
	c.want(exit.NotFound, c.run(importArgs("absent.csv")...))

	c.write("list.csv", "good,1\n")
	if err := os.Link(filepath.Join(c.app.dir, "list.csv"), filepath.Join(c.app.dir, "m.safetensors")); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Usage, c.run(importArgs("list.csv")...))
	if data, err := os.ReadFile(filepath.Join(c.app.dir, "list.csv")); err != nil || string(data) != "good,1\n" {
		t.Errorf("the list became %q, %v", data, err)
	}
}

// A Predict job takes the model, and a LinearModel job begins from it.
func TestJobsTakeImportedScores(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	c.write("scores.csv", scoredWords)
	c.want(0, c.run(importArgs("scores.csv", "--header", "--ngram-max", "2")...))
	c.write("texts.tsv", "pos\tnot bad\nneg\tbad\npos\tgood good\nneg\tgood\n")
	model := filepath.Join(c.app.dir, "m.safetensors")
	out := modelOfRun(t, c, `{apiVersion: v1, kind: Predict, spec: {repro: {seed: 1}, model: `+model+`,
 input: {uri: texts.tsv, format: tsv, label: 1, text: 2}, params: {scores: true}}}`)
	c.want(0, c.run("get", filepath.Dir(out)+"/"))
	got := c.stdout.String()
	for _, want := range []string{",pos,0.5,-0.5,0.5\n", ",neg,4,4,-4\n", ",pos,3,-3,3\n", ",pos,1,-1,1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	trained := modelOfRun(t, c, `{apiVersion: v1, kind: LinearModel, spec: {repro: {seed: 1}, model: `+model+`,
 input: {uri: texts.tsv, format: tsv, label: 1, text: 2}, params: {features: {text: {ngram_max: 2}}}}}`)
	c.want(0, c.run("model", "show", trained))
	if !strings.Contains(c.stdout.String(), "4 training records of 3 columns") ||
		strings.Contains(c.stdout.String(), "imported") {
		t.Errorf("%s", c.stdout.String())
	}
}

// Records with categories are read as numbers, then categories; a header must name them so.
func TestClassifyCategories(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("cars.csv", "make,size,sold\naudi,1,yes\n\"b,w\",2,no\naudi,2,yes\n\"b,w\",1,no\n")
	model := modelOfRun(t, c, `{apiVersion: v1, kind: LinearModel, spec: {repro: {seed: 1},
 input: {uri: cars.csv, format: csv, header: true, label: sold, categorical: [make]}}}`)
	c.want(0, c.run("model", "classify", "--model", model, "-o", "json", "1,audi", "1,\"b,w\""))
	var labels []string
	for line := range strings.Lines(c.stdout.String()) {
		var o records.Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, o.Label)
	}
	if !slices.Equal(labels, []string{"yes", "no"}) {
		t.Errorf("classified %q", labels)
	}
	c.app.in = strings.NewReader("size,make\n1,audi\n")
	c.want(0, c.run("model", "classify", "--model", model))
	for in, want := range map[string]string{"size,brand\n1,audi\n": "the header is", "1,vw\n": `has the category "vw"`,
		"1\n": "the model reads 1 number, then the categories of make", "audi,1\n": "the header is"} {
		c.app.in = strings.NewReader(in)
		c.want(exit.Failed, c.run("model", "classify", "--model", model))
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%q: stderr\n%s", in, c.stderr)
		}
	}
	c.stdout.Reset()
	c.want(0, c.run("model", "show", model))
	for _, want := range []string{`make="audi"`, `make="b,w"`} {
		if !strings.Contains(c.stdout.String(), want) {
			t.Errorf("no %s in\n%s", want, c.stdout.String())
		}
	}
	c.app.in = strings.NewReader("1,\"b,w\"\nyes\n")
	c.want(0, c.run("model", "learn", model, "--out", "turns.safetensors"))
	c.write("told.csv", "yes,1,\"b,w\"\n")
	c.want(0, c.run("model", "learn", model, "--out", "file.safetensors", "--corrections", "told.csv"))
	if !slices.Equal(c.read("turns.safetensors"), c.read("file.safetensors")) {
		t.Error("what is told in turns and by a file differs")
	}
}
