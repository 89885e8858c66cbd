package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// planSpec is a spec for the files of a glob, whose lines are a label and a text.
func planSpec(glob, more string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: NaiveBayes, metadata: {name: topics},
 spec: {input: {uri: %q, format: tsv, label: 1, text: 2%s}, output: {uri: ./out/deep}}}`, glob, more)
}

func (c *session) writeLines(name string, lines int) {
	c.t.Helper()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "%c\tword%03d and another\n", "ab"[i%2], i%1000)
	}
	file, err := os.Create(filepath.Join(c.app.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		_, err = file.WriteString(text.String())
	} else {
		zip := gzip.NewWriter(file)
		if _, err = zip.Write([]byte(text.String())); err == nil {
			err = zip.Close()
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// files are the names of all that lies in the client's directory.
func (c *session) files() string {
	c.t.Helper()
	var names []string
	err := filepath.WalkDir(c.app.dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// 3 files of 22 bytes a line; shards of 300 bytes: 660 bytes are cut into 3 pieces, 220 fit, gzip is one piece.
func TestPlanTellsOfTheInput(t *testing.T) {
	c := newClient(t)
	c.writeLines("a.tsv", 30)
	c.writeLines("b.tsv", 10)
	c.writeLines("c.tsv.gz", 2000)
	path := c.writeSpec(planSpec("./*.tsv*", ", shard_bytes: 300"))
	before := c.files()
	c.want(0, c.run("plan", "-f", path, "-o", "json"))
	if after := c.files(); after != before {
		t.Errorf("there is now\n%s", after)
	}
	var got planView
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	in := got.Inputs[0]
	if got.SchemaVersion != 1 || in.Objects != 3 || in.GzipObjects != 1 || in.Shards != 5 || in.Pass.Gets != 7 ||
		in.Pass.Bytes != in.Bytes || in.Planning.Lists != 1 || got.Busy.FirstRound != 5 || got.Time != nil {
		t.Errorf("%s", c.stdout.String())
	}
	// The first, the middle and the last shard are read: 10, 10 and 2000 records.
	if r := in.Records; r.Exact || r.SampledRecords != 2020 || r.SampledShards != 3 {
		t.Errorf("records %+v", r)
	}
	if got.Output.Writable != "yes" || !strings.Contains(got.Output.Says, "not there yet") ||
		got.Memory.FirstRound < 4<<20 || got.Rounds.Count != 2 || len(got.Rounds.Phases) != 2 {
		t.Errorf("%+v", got)
	}
}

// k-means has features, five draws of kmeans|| beside the first seed and the weighing, four rounds of Lloyd's with a
// refill after all but the last, and the finish: 1 + (5+2) + 4 + 3 + 1.
func TestPlanBoundsTheRounds(t *testing.T) {
	c := newClient(t)
	if err := os.WriteFile(filepath.Join(c.app.dir, "a.csv"), []byte("1,2\n3,4\n5,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := c.writeSpec(`{apiVersion: v1, kind: KMeans, spec: {input: {uri: ./a.csv, format: csv},
		params: {k: 2, max_rounds: 4, init_rounds: 5}}}`)
	c.want(0, c.run("plan", "-f", path))
	if text := c.stdout.String(); !strings.Contains(text, "at most 16:") ||
		!strings.Contains(text, "spec.params.max_rounds is 4") {
		t.Errorf("printed\n%s", text)
	}
	c.stdout.Reset()
	c.want(0, c.run("plan", "-f", path, "-o", "json"))
	if text := c.stdout.String(); !strings.Contains(text, `"at_most": 16`) {
		t.Errorf("printed\n%s", text)
	}
}

// What a spec is refused for is what run refuses it for, with the same code.
func TestPlanRefusesWhatRunRefuses(t *testing.T) {
	for _, text := range []string{
		validSpec + "!", strings.Replace(validSpec, "label", "lable", 1),
		strings.Replace(validSpec, "NaiveBayes", "NaiveBays", 1), strings.Replace(validSpec, "text: 2", "text: 1", 1),
		strings.Replace(validSpec, "spec: {", "spec: {output: {uri: 'mem://x/'}, ", 1),
		strings.Replace(validSpec, "spec: {", "spec: {params: {alpha: -1}, ", 1),
	} {
		var said []string
		for _, verb := range []string{"run", "plan"} {
			c := newClient(t)
			c.app.dir = t.TempDir()
			code := c.run(verb, "-f", c.writeSpec(text))
			said = append(said, strings.ReplaceAll(fmt.Sprintf("%d %s", code, c.stderr), c.app.dir, ""))
		}
		if said[0] != said[1] || !strings.HasPrefix(said[0], "2 ") {
			t.Errorf("%s\nrun:  %s\nplan: %s", text, said[0], said[1])
		}
	}
}

// A model to begin from is named, and not read.
func TestPlanDoesNotReadTheModel(t *testing.T) {
	c := newClient(t)
	c.writeLines("a.tsv", 10)
	path := c.writeSpec(strings.Replace(planSpec("./a.tsv", ""), "kind: NaiveBayes", "kind: Predict", 1))
	c.want(0, c.run("plan", "-f", path, "--set", "spec.model=./absent.safetensors"))
	if text := c.stdout.String(); !strings.Contains(text, "not read; whether the job can begin from it") {
		t.Errorf("printed\n%s", text)
	}
}

func TestPlanSaysWhatTheJobWouldFailOf(t *testing.T) {
	c := newClient(t)
	path := c.writeSpec(planSpec("./a.tsv", ""))
	c.want(exit.Failed, c.run("plan", "-f", path))
	c.stderr.await(t, "INPUT_EMPTY")

	c.writeLines("a.tsv", 10)
	if err := os.WriteFile(filepath.Join(c.app.dir, "out"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Failed, c.run("plan", "-f", path))
	c.stderr.await(t, "its output cannot be written")

	c.want(exit.Usage, c.run("plan", "-f", path, "--workers", "4"))
	c.want(exit.NotFound, c.run("plan", "-f", path, "--from", "absent.json"))
	if err := os.WriteFile(filepath.Join(c.app.dir, "bare.json"), []byte(`{"kind":"NaiveBayes"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Usage, c.run("plan", "-f", path, "--from", "bare.json"))
	c.stderr.await(t, "no timeline")
	for name, bad := range map[string]struct{ text, want string }{
		"empty.json":   {"", "the file is empty"},
		"cut.json":     {`{"kind":"NaiveBayes","rounds":[`, "it is cut off"},
		"garbage.json": {"%PDF-1.4 and more", "it is not JSON"},
	} { //lint:ordered each is checked by itself
		if err := os.WriteFile(filepath.Join(c.app.dir, name), []byte(bad.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.want(exit.Usage, c.run("plan", "-f", path, "--from", name))
		c.stderr.await(t, name+" is no report to forecast from")
		c.stderr.await(t, bad.want)
	}
	c.want(exit.NotFound, c.run("plan", "-f", path, "--from", "./nowhere.json"))
	c.stderr.await(t, "no report can be read at ./nowhere.json")
	c.want(exit.NotFound, c.run("plan", "-f", path, "--from", "./nowhere/"))
	c.stderr.await(t, "no report can be read at ./nowhere/")
	c.want(exit.Usage, c.run("plan", "-f", path, "--slots", "-1"))
}

// A job runs, and the next one like it is forecast from its report.
func TestPlanFromAJobThatRan(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.writeLines("a.tsv", 2000)
	path := c.writeSpec(planSpec("./a.tsv", ", shard_bytes: 4KiB"))
	c.want(0, c.run("run", "-f", path, "-o", "json"))
	var ran struct{ ID string }
	if err := json.Unmarshal(c.stdout.Bytes(), &ran); err != nil {
		t.Fatal(err)
	}
	folder := "./out/deep/" + ran.ID
	var views [3]planView
	for i, args := range [][]string{{}, {"--workers", "4"}, {"--set", "spec.input.shard_bytes=8KiB"}} {
		c.stdout.Reset()
		from := []string{folder, folder + "/report.json", folder + "/"}[i]
		c.want(0, c.run(append([]string{"plan", "-f", path, "--from", from, "-o", "json"}, args...)...))
		if err := json.Unmarshal(c.stdout.Bytes(), &views[i]); err != nil {
			t.Fatal(err)
		}
	}
	alone, four, fewer := views[0].Time, views[1].Time, views[2].Time
	if alone.From != ran.ID || alone.Workers != 1 || alone.Copies != nil || four.Copies == nil ||
		!(alone.WithoutCopies.P50 > 0) || alone.WithoutCopies.P90 < alone.WithoutCopies.P50 || alone.Shards < 10 ||
		fewer.Scaled != alone.Shards || fewer.Shards >= alone.Shards {
		t.Errorf("%+v\n%+v\n%+v", alone, four, fewer)
	}
	c.stdout.Reset()
	c.want(0, c.run("plan", "-f", path, "--from", folder, "--workers", "4"))
	for line := range strings.Lines(c.stdout.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && strings.Contains(strings.TrimSpace(line[9:]), " ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	text := c.stdout.String()
	if !strings.Contains(text, "with speculative copies") || !strings.Contains(text, "p50 ") {
		t.Errorf("printed\n%s", text)
	}
	if strings.Contains(text, "is not the job of this spec") || strings.Contains(text, "is not known: no provenance.json") {
		t.Errorf("other params than its own are told\n%s", text)
	}
	checkOtherParams(c, path, folder)
	other := c.writeSpec(`{apiVersion: v1, kind: KMeans, spec: {input: {uri: ./a.tsv, format: csv}, params: {k: 2}}}`)
	c.want(exit.Usage, c.run("plan", "-f", other, "--from", folder))
	c.stderr.await(t, "of kind NaiveBayes")
}

// Two categorical columns make 2 x 2^3 hashed ones, of 4 bytes in each of 4,096 records; how many a dictionary makes is
// not known before.
func TestPlanTellsOfCategories(t *testing.T) {
	c := newClient(t)
	c.write("cars.csv", "make,color,size,sold\naudi,red,1,yes\nvw,blue,2,no\n")
	spec := func(categories string) string {
		return c.writeSpec(`{apiVersion: v1, kind: LinearModel, spec: {input: {uri: cars.csv, format: csv, header: true,
 label: sold, categorical: [make, color]}, params: {features: {` + categories + `}}}}`)
	}
	for categories, want := range map[string]string{
		"":                                    "unknown until read: 2 categorical columns, of 2 to 2048 columns in all",
		"categories: {bits: 3}":               "2 categorical columns: 16 columns, by hash; they take up to 256.0KiB of a block",
		"categories: {bits: 3, sparse: true}": "16 columns, by hash; sparse vectors have one entry",
	} {
		c.stdout.Reset()
		c.want(0, c.run("plan", "-f", spec(categories)))
		if got := strings.Join(strings.Fields(c.stdout.String()), " "); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, c.stdout.String())
		}
		wantNarrow(t, strings.ReplaceAll(c.stdout.String(), c.app.dir, ""))
	}
	c.want(exit.Usage, c.run("plan", "-f", spec("categories: {bits: 13}")))
	if !strings.Contains(c.stderr.String(), "make 16384 columns of dense vectors") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
	c.want(exit.Usage, c.run("plan", "-f", spec("categories: {bits: 20, sparse: true}"), "--set",
		"spec.params.solver=newton"))
	if !strings.Contains(c.stderr.String(), "solver newton keeps a matrix") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// checkOtherParams checks that a plan says of the job it is made from that it had other params, or that they are not
// known.
func checkOtherParams(c *session, path, folder string) {
	c.t.Helper()
	c.stdout.Reset()
	c.want(0, c.run("plan", "-f", path, "--from", folder, "--set", "spec.params.alpha=0.5"))
	text := strings.Join(strings.Fields(c.stdout.String()), " ")
	const want = "is not the job of this spec: it had spec.params.alpha 1 in place of 0.5; its rounds"
	if !strings.Contains(text, want) {
		c.t.Errorf("printed\n%s\nwant %s", text, want)
	}
	c.stdout.Reset()
	if err := os.Remove(filepath.Join(c.app.dir, folder, "provenance.json")); err != nil {
		c.t.Fatal(err)
	}
	c.want(0, c.run("plan", "-f", path, "--from", folder))
	text = strings.Join(strings.Fields(c.stdout.String()), " ")
	if !strings.Contains(text, "is not known: no provenance.json") {
		c.t.Errorf("printed\n%s", text)
	}
}
