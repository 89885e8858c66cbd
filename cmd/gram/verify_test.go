package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// A job on a directory is checked when nothing of it runs: as a table, as JSON and as a page; a changed file is exit
// code 9, a missing one 10, and each is named.
func TestVerify(t *testing.T) {
	t.Parallel() // mostly waits for elections
	c := newClient(t)
	c.write("texts.tsv", strings.Repeat("sea\tthe tide is high\nland\tthe hill is steep\n", 60))
	spec := strings.NewReplacer("DIR", c.app.dir, "OUT", "out", "ALPHA", "1").Replace(diffSpec)
	folder := strings.TrimSuffix(modelOfRun(t, c, spec), "model.safetensors")

	c.stdout.Reset()
	c.want(0, c.run("verify", folder, "--page", "check.html"))
	text := c.stdout.String()
	for _, want := range []string{
		"\nverified\n", "leaves were repeated: none is false", "the model follows", "ALL", "kept",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("printed without %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line has %d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	page, err := os.ReadFile(filepath.Join(c.app.dir, "check.html"))
	if err != nil || !strings.Contains(string(page), "verified</h1>") || strings.Contains(string(page), "<script") {
		t.Errorf("page: %v\n%.300s", err, page)
	}
	if r := checkedJSON(t, c, 0, "verify", folder, "--sample", "3", "--rounds", "0", "--draw", "5"); r.Draw != "5" ||
		r.Leaves.Done != 3 || r.SchemaVersion != 1 {
		t.Errorf("%+v", r)
	}
	one := checkedJSON(t, c, 0, "verify", folder, "--sample", "3")
	two := checkedJSON(t, c, 0, "verify", folder, "--sample", "3")
	if one.Draw == two.Draw || one.Draw == "" {
		t.Errorf("drawn with %q and with %q", one.Draw, two.Draw)
	}
	c.want(2, c.run("verify", folder, "--all", "--draw", "1"))
	c.want(2, c.run("verify", folder, "--sample", "-1"))

	path := strings.TrimPrefix(folder, "file://")
	data, err := os.ReadFile(path + "proof/spec.json")
	if err != nil {
		t.Fatal(err)
	}
	c.replace(path+"proof/spec.json", append(bytes.Clone(data), make([]byte, 1<<20)...)) // read as a stream
	if r := checkedJSON(t, c, 9, "verify", folder); len(r.False) == 0 || r.False[0].File != "proof/spec.json" {
		t.Errorf("grown: %+v", r)
	}
	data[10] ^= 1
	c.replace(path+"proof/spec.json", data)
	if r := checkedJSON(t, c, 9, "verify", folder, "--all"); r.Verdict != "false" ||
		len(r.False) == 0 || r.False[0].File != "proof/spec.json" {
		t.Errorf("changed: %+v", r)
	}
	if err := os.Remove(path + "proof/spec.json"); err != nil {
		t.Fatal(err)
	}
	if r := checkedJSON(t, c, 10, "verify", folder); r.Verdict != "incomplete" ||
		r.Missing[0].File != "proof/spec.json" {
		t.Errorf("missing: %+v", r)
	}
	for _, want := range []string{"files beside the model are not those", "proof/spec.json is missing",
		"`gram model get` fetches no more of a proof"} {
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, c.stderr)
		}
	}
	if err := os.Remove(path + "provenance.json"); err != nil {
		t.Fatal(err)
	}
	c.stdout.Reset()
	c.want(10, c.run("verify", folder))
	if out := c.stdout.String(); strings.Contains(out, "0000") || !strings.Contains(out, "Nothing was repeated.") ||
		!strings.Contains(c.stderr.String(), "Name the folder of a job's outputs") {
		t.Errorf("without provenance: %s%s", out, c.stderr)
	}
	c.want(3, c.run("verify", c.app.dir+"/nowhere/")) // there is no job to check
}

// replace writes a file that a job left.
func (c *session) replace(path string, data []byte) {
	c.t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func checkedJSON(t *testing.T, c *session, code int, args ...string) (view checkedView) {
	t.Helper()
	c.stdout.Reset()
	c.want(code, c.run(append(args, "-o", "json")...))
	if err := json.Unmarshal(c.stdout.Bytes(), &view); err != nil {
		t.Fatalf("%v: %s", err, c.stdout.String())
	}
	return view
}

// Whichever bit of a signature is changed, the job no longer verifies by the key, and the file is named.
func TestChangedSignaturesAreFound(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("texts.tsv", strings.Repeat("sea\tthe tide is high\nland\tthe hill is steep\n", 60))
	spec := strings.NewReplacer("DIR", c.app.dir, "OUT", "out", "ALPHA", "1").Replace(diffSpec)
	folder := strings.TrimSuffix(modelOfRun(t, c, spec), "model.safetensors")
	private, public := c.keyFiles("a")
	c.want(0, c.run("sign", folder, "--key", private))
	c.want(0, c.run("verify", folder, "--public-key", public))
	r := rand.New(rand.NewPCG(3, 24))
	codes := map[string]map[int]int{}
	for _, name := range []string{"model.sig", "provenance.intoto.jsonl"} {
		codes[name] = map[int]int{}
		path := strings.TrimPrefix(folder, "file://") + name
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 120 {
			bit := r.IntN(8 * len(data))
			changed := bytes.Clone(data)
			changed[bit/8] ^= 1 << (bit % 8)
			c.replace(path, changed)
			c.stdout.Reset()
			before := len(c.stderr.String())
			code := c.run("verify", folder, "--public-key", public, "--sample", "0", "--rounds", "0", "-q")
			out := c.stdout.String() + c.stderr.String()[before:]
			codes[name][code]++
			valid := regexp.MustCompile(regexp.QuoteMeta(name) + `\s+valid`).MatchString(out)
			if valid || code != 9 && code != 10 || !strings.Contains(out, name) {
				t.Errorf("bit %d of %s: exit code %d\n%s", bit, name, code, out)
			}
		}
		c.replace(path, data)
	}
	t.Logf("exit codes: %v", codes)
	c.want(0, c.run("verify", folder, "--public-key", public))
}
