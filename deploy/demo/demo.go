package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/deploy/process"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

const spec = `apiVersion: v1
kind: NaiveBayes
metadata: {name: glosses}
spec:
  input:
    uri: ./glosses.tsv
    format: tsv
    label: 1
    text: 3
    shard_bytes: 512KiB
    split: {test: 0.2}
  params: {alpha: 0.1}
  repro: {seed: 7}
`

// shown are the classes whose words are printed.
const shown = "noun.animal,noun.plant,noun.food,verb.motion,noun.time"

// demo is a temporary folder and a cluster in it.
type demo struct {
	binary  string
	dir     string
	cluster *cluster
}

// facts are what the last line tells.
type facts struct {
	evaluation evaluation.Report
	model      string // SHA-256
}

// play is the demonstration, scene by scene.
func (d *demo) play(ctx context.Context, data string, sentences []string) (facts, error) {
	var f facts
	say("Unpack 117,659 WordNet glosses, and start a cluster: a coordinator with its log on\ndisk, two worker processes, a directory as store.")
	if err := decompress(data, filepath.Join(d.dir, "glosses.tsv")); err != nil {
		return f, err
	}
	if err := os.WriteFile(filepath.Join(d.dir, "glosses.yaml"), []byte(spec), 0o600); err != nil {
		return f, err
	}
	if err := d.cluster.start(ctx); err != nil {
		return f, fmt.Errorf("start the cluster: %w", err)
	}
	say("Submit the job, and follow it.")
	id, err := d.submit(ctx)
	if err != nil {
		return f, err
	}
	if err := d.show(ctx, "wait", id, "--timeout", "5m"); err != nil {
		return f, err
	}
	if f, err = d.facts(ctx, id); err != nil {
		return f, err
	}
	printEvaluation(f.evaluation)
	say("What it learned: words that tell five of the classes from the rest.")
	if err := d.show(ctx, "model", "show", id, "--class", shown, "--top", "8"); err != nil {
		return f, err
	}
	say("What it makes of new sentences.")
	if err := d.show(ctx, append([]string{"model", "classify", "--model", id}, sentences...)...); err != nil {
		return f, err
	}
	if err := d.failures(ctx, f); err != nil {
		return f, err
	}
	return f, d.again(ctx, f)
}

// submit returns the id of the job.
func (d *demo) submit(ctx context.Context) (string, error) {
	id, err := d.output(ctx, "submit", "-f", filepath.Join(d.dir, "glosses.yaml"))
	return strings.TrimSpace(id), err
}

// again trains in one process, with the generic kernels, and demands the same bytes.
func (d *demo) again(ctx context.Context, f facts) error {
	say("The same job without a cluster, in one process with the generic kernels.")
	text, err := d.output(ctx, "run", "-q", "-o", "json", "--kernels", "generic",
		"-f", filepath.Join(d.dir, "glosses.yaml"), "--out", filepath.Join(d.dir, "models"))
	if err != nil {
		return err
	}
	model, _, err := outputsOf(text)
	if err != nil {
		return err
	}
	return same("in one process", model.SHA256, f.model)
}

// command is one call of gram, as typed.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	fmt.Printf("$ gram %s\n", strings.Join(quoted(args), " "))
	cmd := exec.CommandContext(ctx, d.binary, args...)
	cmd.Env = process.Environment("GRAM_CONFIG=" + d.cluster.config)
	cmd.Stderr = os.Stderr
	return cmd
}

// show lets gram write to the terminal.
func (d *demo) show(ctx context.Context, args ...string) error {
	cmd := d.command(ctx, args...)
	cmd.Stdout = os.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("gram %s: %w", args[0], err)
	}
	return nil
}

// output returns what gram writes to stdout.
func (d *demo) output(ctx context.Context, args ...string) (string, error) {
	cmd := d.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("gram %s: %w", args[0], err)
	}
	return out.String(), nil
}

// object is an output as `gram status -o json` tells it.
type object struct{ Name, URI, SHA256 string }

// facts asks for the job's outputs and reads the evaluation from its report.
func (d *demo) facts(ctx context.Context, id string) (facts, error) {
	var f facts
	text, err := d.output(ctx, "status", id, "-o", "json")
	if err != nil {
		return f, err
	}
	model, report, err := outputsOf(text)
	if err != nil {
		return f, err
	}
	f.model = model.SHA256
	content, err := os.ReadFile(strings.TrimPrefix(report.URI, "file://"))
	if err != nil {
		return f, err
	}
	f.evaluation, err = evaluationIn(content)
	return f, err
}

func outputsOf(job string) (model, report object, err error) {
	var view struct{ Outputs []object }
	if err := json.Unmarshal([]byte(job), &view); err != nil {
		return model, report, fmt.Errorf("read the job: %w", err)
	}
	for _, o := range view.Outputs {
		switch o.Name {
		case "model.safetensors":
			model = o
		case "report.json":
			report = o
		}
	}
	if model.SHA256 == "" || report.URI == "" {
		return model, report, fmt.Errorf("the job has no model or no report: %s", job)
	}
	return model, report, nil
}

func evaluationIn(report []byte) (evaluation.Report, error) {
	var e evaluation.Report
	var view struct {
		Metrics []struct {
			Name  string
			Value json.RawMessage
		}
	}
	if err := json.Unmarshal(report, &view); err != nil {
		return e, fmt.Errorf("read the report: %w", err)
	}
	for _, m := range view.Metrics {
		if m.Name == "evaluation" {
			return e, json.Unmarshal(m.Value, &e)
		}
	}
	return e, errors.New("the report holds no evaluation")
}

func printEvaluation(e evaluation.Report) {
	say("How good it is, on a fifth of the glosses that it has not seen.")
	fmt.Printf("accuracy  %.4f  (%d of %d)\nmacro F1  %.4f\n\nmost confused\n", e.Accuracy, e.Correct, e.Records,
		e.Macro.F1)
	for _, c := range e.Confused[:min(5, len(e.Confused))] {
		fmt.Printf("%6d  %s taken for %s\n", c.Count, c.Truth, c.Predicted)
	}
}

func say(text string) { fmt.Printf("\n%s\n\n", text) }

// quoted shows arguments as a person would type them.
func quoted(args []string) []string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if strings.ContainsAny(arg, " '") {
			words[i] = "'" + arg + "'"
		}
	}
	return words
}
