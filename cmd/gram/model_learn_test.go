package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/jobs"
)

// perceptronSpec trains on one file by one epoch in the order of its lines; learned on from a model where one is named.
func perceptronSpec(file, form, model string) string {
	return `{apiVersion: v1, kind: Perceptron, spec: {repro: {seed: 1}, ` + model +
		` params: {form: ` + form + `, epochs: 1, shuffle: false},
 input: {uri: ` + file + `, format: tsv, label: 1, text: 2}}}`
}

// modelOfRun runs a spec in this process and returns the file of its model.
func modelOfRun(t *testing.T, c *session, spec string) string {
	t.Helper()
	c.stdout.Reset()
	c.want(0, c.run("run", "-f", c.writeSpec(spec), "-o", "json"))
	var view show.Job
	if err := json.Unmarshal(c.stdout.Bytes(), &view); err != nil {
		t.Fatal(err)
	}
	c.stdout.Reset()
	return strings.TrimPrefix(view.Outputs[0].URI, "file://")
}

func (c *session) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.app.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *session) read(name string) []byte {
	c.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.app.dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

const (
	parity = "even\ttwo four\nodd\tone three\neven\tfour six\nodd\tthree five\neven\tsix two\nodd\tfive one\n"
	told   = "odd\ttwo one\neven\tthree four\nodd\tfour\neven\tsix five\n"
)

// lastTold is a line of -o json that says how a lesson went.
func lastTold(t *testing.T, c *session) learnedView {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(c.stdout.String()), "\n")
	var view learnedView
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &view); err != nil {
		t.Fatalf("%v in %q", err, lines)
	}
	c.stdout.Reset()
	return view
}

// The same corrections make the same bytes by a file, by stdin and by conversation, and the
// weights of a job that goes on with the model over them.
func TestLearnIsTraining(t *testing.T) {
	t.Parallel() // mostly waits for elections
	for _, form := range []string{"plain", "averaged", "voted"} {
		c := newClient(t)
		c.write("texts.tsv", parity)
		c.write("told.tsv", told)
		model := modelOfRun(t, c, perceptronSpec("texts.tsv", form, ""))
		c.want(0, c.run("model", "learn", model, "--out", "file.safetensors", "--corrections", "told.tsv", "-o",
			"json"))
		view := lastTold(t, c)
		if view.Told != 4 || view.Wrong == 0 || view.Updates == 0 || view.From == view.Model ||
			view.Model != objects.Digest(c.read("file.safetensors")) {
			t.Errorf("%s: %+v", form, view)
		}
		c.app.in = strings.NewReader(told)
		c.want(0, c.run("model", "learn", model, "--out", "stdin.safetensors", "--corrections", "-"))
		c.app.in = strings.NewReader("two one\nodd\nskipped\n-\nthree four\neven\nfour\nodd\nsix five\neven\n")
		c.want(0, c.run("model", "learn", model, "--out", "turns.safetensors"))
		for _, other := range []string{"stdin.safetensors", "turns.safetensors"} {
			if !bytes.Equal(c.read(other), c.read("file.safetensors")) {
				t.Errorf("%s: %s differs", form, other)
			}
		}
		wantSameWeights(t, c.read("file.safetensors"),
			c.read(modelOfRun(t, c, perceptronSpec("told.tsv", form, "model: "+model+","))))
	}
}

// wantSameWeights compares what decides: all but the history of the training.
func wantSameWeights(t *testing.T, learned, trained []byte) {
	t.Helper()
	got, err := jobs.Decode(learned)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jobs.Decode(trained)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, array := range want {
		if strings.HasPrefix(name, "training.") || strings.HasPrefix(name, "features.") {
			continue
		}
		compared++
		if !bytes.Equal(array.Data, got[name].Data) {
			t.Errorf("array %q differs", name)
		}
	}
	if _, ok := want["weights"]; !ok || compared < 6 {
		t.Errorf("%d arrays compared", compared)
	}
}

// What the model says comes before what it is told; an empty line confirms it.
func TestConversation(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("texts.tsv", parity)
	model := modelOfRun(t, c, perceptronSpec("texts.tsv", "plain", ""))
	c.app.in = strings.NewReader("two four\n\ntwo four\nodd\n")
	c.want(0, c.run("model", "learn", model, "--out", "m.safetensors", "-o", "json"))
	var first records.Outcome
	if err := json.Unmarshal([]byte(strings.SplitN(c.stdout.String(), "\n", 2)[0]), &first); err != nil ||
		first.Label != "even" || first.Text != "two four" {
		t.Errorf("%+v, %v", first, err)
	}
	if view := lastTold(t, c); view.Told != 2 || view.Wrong != 1 {
		t.Errorf("%+v", view)
	}
	for in, says := range map[string]string{
		"two\nevn\n":           `stdin, line 2: BAD_RECORD`,
		"two\nodd\nfour\nod\n": `stdin, line 4: BAD_RECORD`,
	} {
		c.app.in = strings.NewReader(in)
		c.want(exit.Failed, c.run("model", "learn", model, "--out", "none.safetensors"))
		if !strings.Contains(c.stderr.String(), says) {
			t.Errorf("stderr:\n%s", c.stderr)
		}
	}
	c.want(exit.Failed, func() int {
		c.write("bad.tsv", "even\ttwo\nodd three\n")
		return c.run("model", "learn", model, "--out", "none.safetensors", "--corrections", "bad.tsv")
	}())
	if !strings.Contains(c.stderr.String(), "bad.tsv, line 2: no tab between label and text") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
	if _, err := os.Stat(filepath.Join(c.app.dir, "none.safetensors")); err == nil {
		t.Error("a lesson that failed left a model")
	}
	c.want(exit.Usage, c.run("model", "learn", model, "--out", "no/such/folder"))
	c.want(exit.Usage, c.run("model", "learn", model, "--out", "m", "--corrections", "absent.tsv"))
}

const irisSpec = `{apiVersion: v1, kind: KIND, spec: {repro: {seed: 1}, params: {PARAMS},
 input: {uri: points.csv, format: csv, label: 1}}}`

// Dense models read numbers with commas between them.
func TestVectorsOnTheCommandLine(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	c.write("points.csv", "a,0,0\na,1,0\nb,5,5\nb,6,5\n")
	for kind, want := range map[string]string{
		"KernelDensityBayes": `{"schema_version":1,"vector":"1, 1","label":"a"`,
		"KernelNearestMean":  `{"schema_version":1,"vector":"1, 1","label":"a"`,
		"KernelPerceptron":   `{"schema_version":1,"vector":"1, 1","label":"`,
		"NearestMean":        `{"schema_version":1,"vector":"1, 1","label":"a","rejected":false,"value":`,
		"GaussianNaiveBayes": `{"schema_version":1,"vector":"1, 1","label":"a","rejected":false,"scores":[{"label":`,
		"KMeans":             `{"schema_version":1,"vector":"1, 1","label":"0","rejected":false,"value":`,
		"NearestNeighbors":   `{"schema_version":1,"vector":"1, 1","label":"a","rejected":false,"value":1,"value_is":"share"}`,
		"Perceptron":         `{"schema_version":1,"vector":"1, 1","label":"b","rejected":false,"value":5.5,"value_is":"score"`,
	} {
		params := map[string]string{"KMeans": "k: 2",
			"NearestNeighbors": "mode: classify, k: 1, leave_one_out: false, store_base: true"}[kind]
		model := modelOfRun(t, c, strings.NewReplacer("KIND", kind, "PARAMS", params).Replace(irisSpec))
		c.want(0, c.run("model", "classify", "--model", model, "1, 1", "-o", "json"))
		if !strings.HasPrefix(c.stdout.String(), want) {
			t.Errorf("%s: %s", kind, c.stdout.String())
		}
		c.stdout.Reset()
		c.app.in = strings.NewReader("1,1\n6,6\n")
		c.want(0, c.run("model", "classify", "--model", model))
		if lines := strings.Count(c.stdout.String(), "\n"); lines != 2 {
			t.Errorf("%s: %s", kind, c.stdout.String())
		}
		for in, says := range map[string]string{"1,1\n1,2,3\n": "vector 2: ", "1,x\n": `column 2 is "x"`,
			"1,inf\n": "not a finite number", "\n": "empty line"} {
			c.app.in = strings.NewReader(in)
			c.want(exit.Failed, c.run("model", "classify", "--model", model))
			if !strings.Contains(c.stderr.String(), says) {
				t.Errorf("%s: %q: stderr\n%s", kind, in, c.stderr)
			}
		}
		c.want(0, c.run("model", "show", model))
		for line := range strings.Lines(c.stdout.String()) {
			if len([]rune(line)) > 81 {
				t.Errorf("%s: a line of %d columns: %s", kind, len([]rune(line)), line)
			}
		}
		c.stdout.Reset()
	}
}

// Vectors are taught as CSV with the label first; the file may be that of the training.
func TestLearnVectors(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("points.csv", "a,0,0\na,1,0\nb,5,5\nb,6,5\n")
	model := modelOfRun(t, c, strings.NewReplacer("KIND", "Perceptron", "PARAMS", "").Replace(irisSpec))
	c.write("told.csv", "b,0,1\n\"b\",1,0\na,6,5\n")
	c.want(0, c.run("model", "learn", model, "--out", "m.safetensors", "--corrections", "told.csv"))
	if !strings.Contains(c.stdout.String(), "told     3 records, ") {
		t.Errorf("%s", c.stdout.String())
	}
	c.stdout.Reset()
	kernel := modelOfRun(t, c, strings.NewReplacer("KIND", "KernelPerceptron", "PARAMS",
		"form: voted").Replace(irisSpec))
	c.want(0, c.run("model", "learn", kernel, "--out", "k.safetensors", "--corrections", "told.csv"))
	c.want(0, c.run("model", "show", "k.safetensors"))
	if !strings.Contains(c.stdout.String(), "told     3 records, ") ||
		!strings.Contains(c.stdout.String(), "a correction") {
		t.Errorf("%s", c.stdout.String())
	}
	c.stdout.Reset()
	mean := modelOfRun(t, c, strings.NewReplacer("KIND", "KernelPerceptron", "PARAMS", "").Replace(irisSpec))
	c.want(exit.Failed, c.run("model", "learn", mean, "--out", "k.safetensors"))
	if !strings.Contains(c.stderr.String(), "a model of form averaged holds the mean") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
	means := modelOfRun(t, c, strings.NewReplacer("KIND", "NearestMean", "PARAMS", "").Replace(irisSpec))
	c.want(exit.Failed, c.run("model", "learn", means, "--out", "m.safetensors"))
	if !strings.Contains(c.stderr.String(), "does not go on learning") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// A model that does not hold its base says so, and what to train in its place.
func TestClassifyWithoutABase(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("points.csv", "a,0,0\na,1,0\nb,5,5\nb,6,5\n")
	spec := strings.NewReplacer("KIND", "KernelNearestMean", "PARAMS", "store_base: false", "{repro",
		"{queries: {uri: points.csv, format: csv, label: 1}, repro").Replace(irisSpec)
	model := modelOfRun(t, c, spec)
	c.want(exit.Failed, c.run("model", "classify", "--model", model, "1, 1"))
	if !strings.Contains(c.stderr.String(), "gram: the model does not hold its base") ||
		!strings.Contains(c.stderr.String(), "params.store_base") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// The header line of a file is no record, when the spec of the model's job says that its files have one.
func TestClassifyLeavesTheHeaderOut(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	c.write("points.csv", "label,x,y\na,0,0\na,1,0\nb,5,5\nb,6,5\n")
	spec := strings.NewReplacer("KIND", "NearestMean", "PARAMS", "").Replace(irisSpec)
	model := modelOfRun(t, c, strings.Replace(spec, "format: csv", "format: csv, header: true", 1))
	classify := func(stdin string, args ...string) string {
		t.Helper()
		c.stdout.Reset()
		c.app.in = strings.NewReader(stdin)
		c.want(0, c.run(append([]string{"model", "classify", "--model", model}, args...)...))
		return c.stdout.String()
	}
	if got := classify("x,y\n1,1\n6,6\n"); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "a ") {
		t.Errorf("%s", got)
	}
	if got := c.stderr.String(); !strings.Contains(got, "the first line is left out as a header") ||
		!strings.Contains(got, "x,y") {
		t.Errorf("stderr:\n%s", got)
	}
	if got := classify("1,1\n6,6\n"); strings.Count(got, "\n") != 2 { // numbers are a record
		t.Errorf("%s", got)
	}
	c.app.in = strings.NewReader("x,y\n1,1\n")
	c.want(exit.Failed, c.run("model", "classify", "--model", model, "--header", "false"))
	c.want(exit.Usage, c.run("model", "classify", "--model", model, "--header", "maybe"))
	plain := newClient(t)
	plain.write("points.csv", "a,0,0\na,1,0\nb,5,5\nb,6,5\n")
	other := modelOfRun(t, plain, spec)
	plain.app.in = strings.NewReader("x,y\n1,1\n")
	plain.want(exit.Failed, plain.run("model", "classify", "--model", other))
	plain.stdout.Reset()
	plain.app.in = strings.NewReader("x,y\n1,1\n")
	plain.want(0, plain.run("model", "classify", "--model", other, "--header", "true"))
	if got := plain.stdout.String(); strings.Count(got, "\n") != 1 {
		t.Errorf("%s", got)
	}
}
