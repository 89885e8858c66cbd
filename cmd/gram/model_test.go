package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

const paritySpec = `{apiVersion: v1, kind: NaiveBayes, spec: {repro: {seed: 1},
 input: {uri: texts.tsv, format: tsv, label: 1, text: 2, split: {test: 0.25}}}}`

// writeTexts puts the input of paritySpec beside it.
func (c *session) writeTexts() {
	c.t.Helper()
	text := strings.Repeat("even\ttwo four\nodd\tone three\n", 40)
	if err := os.WriteFile(filepath.Join(c.app.dir, "texts.tsv"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// trained runs a small job in this process and returns it as -o json printed it.
func trained(t *testing.T, c *session) show.Job {
	t.Helper()
	c.writeTexts()
	c.want(0, c.run("run", "-f", c.writeSpec(paritySpec), "-o", "json"))
	var view show.Job
	if err := json.Unmarshal(c.stdout.Bytes(), &view); err != nil {
		t.Fatal(err)
	}
	c.stdout.Reset()
	return view
}

func TestRunThenLookAtTheModel(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	if view.State != "Succeeded" || len(view.Outputs) != 6 {
		t.Fatalf("job %+v", view)
	}
	file := strings.TrimPrefix(view.Outputs[0].URI, "file://")
	if want := filepath.Join(c.app.dir, "models", view.ID, "model.safetensors"); file != want {
		t.Errorf("the model is at %s, want %s", file, want)
	}
	c.want(0, c.run("model", "show", file))
	if !strings.Contains(c.stdout.String(), "even (") {
		t.Errorf("shown\n%s", c.stdout.String())
	}
	shown := c.stdout.String()
	c.stdout.Reset()
	if c.want(0, c.run("model", "show", "models/"+view.ID+"/")); c.stdout.String() != shown {
		t.Errorf("of its folder\n%s", c.stdout.String())
	}
	c.want(exit.Usage, c.run("model", "show", file, "--class", "evn"))
	if got := c.stderr.String(); !strings.Contains(got, `gram: the model has no class "evn"`) ||
		!strings.Contains(got, `Did you mean "even"?`) {
		t.Errorf("stderr:\n%s", got)
	}
	c.stdout.Reset()
	c.app.in = strings.NewReader("two two\nthree\n")
	c.want(0, c.run("model", "classify", "--model", file, "-o", "json"))
	var labels []string
	for line := range strings.Lines(c.stdout.String()) {
		var p records.Prediction
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, p.Text+" is "+p.Label)
	}
	if got := strings.Join(labels, ", "); got != "two two is even, three is odd" {
		t.Errorf("classified: %s", got)
	}
}

// A warning of the report, here that training ended early, reaches those who read JSON too.
func TestRunWarnsBesideJSON(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	text := strings.Repeat("0.1,a\n0.2,b\n0.3,a\n0.4,b\n0.5,a\n0.6,b\n", 4)
	if err := os.WriteFile(filepath.Join(c.app.dir, "numbers.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(0, c.run("run", "-o", "json", "-f", c.writeSpec(`{apiVersion: v1, kind: SupportVectorMachine, spec: {
 input: {uri: numbers.csv, format: csv, label: 2}, params: {max_rounds: 1, working_set: 4}}}`)))
	if !json.Valid(c.stdout.Bytes()) {
		t.Errorf("stdout:\n%s", c.stdout.String())
	}
	if got := c.stderr.String(); !strings.Contains(got, "gram: warning: ") || !strings.Contains(got, "max_rounds") {
		t.Errorf("stderr:\n%s", got)
	}
}

// The job says one digest, the store holds other bytes.
func TestModelOfAJobIsHeldAgainstItsDigest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("other bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := jobIn("a", succeeded)
	job.Outputs = []*gramv1.OutputFile{{Name: "model.safetensors", Uri: "file://" + dir + "/model.safetensors",
		Sha256: make([]byte, 32)}}
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	c.want(exit.Failed, c.run("model", "show", "a"))
	if !strings.Contains(c.stderr.String(), "is not the object that the job made") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

func TestModelThatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		state gramv1.JobState
		code  int
		says  string
	}{
		{running, exit.Failed, "no model yet"},
		{failed, exit.Failed, "job a failed"},
		{cancelled, exit.Cancelled, "was cancelled"},
	} {
		client := clientOf(t, &backend{get: func(id string) (*gramv1.Job, error) { return jobIn(id, c.state), nil }})
		client.want(c.code, client.run("model", "show", "a"))
		if !strings.Contains(client.stderr.String(), c.says) {
			t.Errorf("%v: stderr:\n%s", c.state, client.stderr)
		}
	}
	client := newClient(t)
	client.want(exit.NotFound, client.run("model", "show", "./absent.safetensors"))
	if !strings.Contains(client.stderr.String(), "not found") {
		t.Errorf("stderr:\n%s", client.stderr)
	}
}

func TestRunTellsWhyAJobFailed(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.want(exit.Failed, c.run("run", "-f", c.writeSpec(paritySpec)))
	if !strings.Contains(c.stderr.String(), "INPUT_EMPTY") || strings.Contains(c.stderr.String(), "gram logs") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

func TestInterruptEndsARunHere(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.writeTexts()
	c.interrupts <- os.Interrupt
	c.want(exit.Interrupted, c.run("run", "-f", c.writeSpec(paritySpec)))
	if !strings.Contains(c.stderr.String(), "nothing was kept") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

func TestLinesOfStdinAreBounded(t *testing.T) {
	full := strings.Repeat("x", records.MaxTextBytes)
	for _, c := range []struct {
		name, in string
		lines    int
		says     string
	}{
		{"none", "", 0, ""},
		{"full", full + "\r\n" + full + "\n" + full, 3, ""},
		{"a byte too long", "a\n" + full + "x\nb\n", 1, "line 2 of stdin is longer than 1 MiB (1048576 bytes)"},
		{"a byte too long at the end", "a\n" + full + "x", 1, "line 2 of stdin is longer than 1 MiB (1048576 bytes)"},
		{"far too long", full + full, 0, "line 1 of stdin is longer than 1 MiB (1048576 bytes)"},
	} {
		lines, says := 0, ""
		for _, err := range records.Lines(strings.NewReader(c.in)) {
			if err != nil {
				says = err.Error()
				continue
			}
			lines++
		}
		if lines != c.lines || says != c.says {
			t.Errorf("%s: %d lines, error %q", c.name, lines, says)
		}
	}
}

func TestRunRefusesOutputsInMemory(t *testing.T) {
	c := newClient(t)
	c.writeTexts()
	c.want(exit.Usage, c.run("run", "-f", c.writeSpec(paritySpec), "--out", "mem://x"))
	if !strings.Contains(c.stderr.String(), "gone with this process") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// A worker that cannot register ends the run; the call that broke off is not the reason.
func TestWhyEnded(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	ctx, abort := context.WithCancelCause(stopped)
	broken, refused := errors.New("stream broke off"), errors.New("register: refused")
	if err := whyEnded(stopped, ctx, broken); err != broken {
		t.Errorf("before any end: %v", err)
	}
	abort(refused)
	if err := whyEnded(stopped, ctx, broken); err != refused {
		t.Errorf("after the worker failed: %v", err)
	}
	if err := whyEnded(stopped, ctx, nil); err != nil {
		t.Errorf("a job that had succeeded: %v", err)
	}
	late, abort := context.WithCancelCause(stopped)
	abort(worker.ErrDrainTimeout)
	if err := whyEnded(stopped, late, broken); err != broken {
		t.Errorf("a job that failed while another task ran: %v", err)
	}
	stop()
	if err := whyEnded(stopped, ctx, broken); exit.Of(err).Code != exit.Interrupted {
		t.Errorf("after a signal: %v", err)
	}
}

// A job that succeeded is not reported as done unless the disk has its outputs, and no signal makes them be called
// gone.
func TestOutputsThatTheDiskMayNotHave(t *testing.T) {
	full, ended := errors.New("the disk is full"), &gramv1.Job{Id: "j", State: gramv1.JobState_JOB_STATE_SUCCEEDED}
	kept := func(ctx context.Context) error { return cmp.Or(ctx.Err(), full) }
	err := keepOutputs(t.Context(), ended, kept)
	if f := exit.Of(err); f.Code != exit.Failed || !errors.Is(err, full) || f.Hint == "" {
		t.Errorf("a full disk: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	err = whyEnded(stopped, stopped, keepOutputs(stopped, ended, kept))
	if f := exit.Of(err); f.Code != exit.Interrupted || strings.Contains(f.What, "nothing was kept") {
		t.Errorf("a signal meanwhile: %v", err)
	}
	ended.State = gramv1.JobState_JOB_STATE_FAILED
	if err := keepOutputs(t.Context(), ended, kept); err != nil {
		t.Errorf("a job that failed: %v, which hides why", err)
	}
}

func TestPredictionLine(t *testing.T) {
	p := jobs.Prediction{Label: "noun.animal", Scores: []jobs.ClassScore{{Label: "noun.animal", Posterior: 0.85061}}}
	if got := records.PredictionLine(p, "a large\tcat",
		terminal.Palette{}); got != "noun.animal           0.8506  a large cat" {
		t.Errorf("line %q", got)
	}
	p.Label = strings.Repeat("noun.", 40)
	if got := records.PredictionLine(p, strings.Repeat("long ", 40), terminal.Palette{}); len(got) > 80 ||
		!strings.Contains(got, "noun.no...  0.8506") {
		t.Errorf("line of %d columns: %q", len(got), got)
	}
	p.Rejected = true
	if got := records.PredictionLine(p, strings.Repeat("long ", 40), terminal.Palette{}); !strings.HasPrefix(got,
		"(rejected) ") || len(got) > 79 {
		t.Errorf("line of %d columns: %q", len(got), got)
	}
}
