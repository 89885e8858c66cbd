package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// writeResult writes a result of two parts into the client's directory, as a job does, and
// returns the folder of its model.
func writeResult(c *session, format string) string {
	c.t.Helper()
	folder := filepath.Join(c.app.dir, "models", "digits-1")
	emit := func(_ context.Context, name string, data []byte) (jobs.File, error) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return jobs.File{}, err
		}
		sum := sha256.Sum256(data)
		file := jobs.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
		return file, os.WriteFile(path, data, 0o600)
	}
	index := parts.Index{Format: format, Columns: []string{"query", "distance"}}
	for i, t := range []parts.Table{
		{{Name: "query", Ints: []int64{0, 1}}, {Name: "distance", Floats: []float64{0.5, 2}}},
		{{Name: "query", Ints: []int64{2}}, {Name: "distance", Floats: []float64{0.125}}},
	} {
		list, err := parts.Write(c.t.Context(), emit, "neighbors", i, format, t)
		if err != nil {
			c.t.Fatal(err)
		}
		index.Parts = append(index.Parts, list...)
	}
	if _, err := parts.WriteIndex(c.t.Context(), emit, "neighbors", index); err != nil {
		c.t.Fatal(err)
	}
	return folder
}

func TestGetJoinsParts(t *testing.T) {
	for format, want := range map[string]string{
		"csv":   "query,distance\n0,0.5\n1,2\n2,0.125\n",
		"jsonl": "{\"query\":0,\"distance\":0.5}\n{\"query\":1,\"distance\":2}\n{\"query\":2,\"distance\":0.125}\n",
		"npy": string(parts.NPYHeader("<f8", 3, 2)) +
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xe0\x3f" +
			"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40" +
			"\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\xc0\x3f",
	} {
		c := newClient(t)
		writeResult(c, format)
		c.want(0, c.run("get", "./models/digits-1", "neighbors"))
		if c.stdout.String() != want {
			t.Errorf("%s: %q, want %q", format, c.stdout.String(), want)
		}
		c.want(0, c.run("get", "./models/digits-1/", "neighbors/", "--out", "all."+format))
		data, err := os.ReadFile(filepath.Join(c.app.dir, "all."+format))
		if err != nil || string(data) != want {
			t.Errorf("%s: the file holds %q, %v", format, data, err)
		}
	}
}

// A job's id leads to the folder of its model.
func TestGetOfAJob(t *testing.T) {
	job := jobIn("digits-1", succeeded)
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	folder := writeResult(c, "csv")
	job.Outputs = []*gramv1.OutputFile{{Name: "model.safetensors", Uri: "file://" + folder + "/model.safetensors"}}
	c.want(0, c.run("get", "digits-1", "neighbors"))
	if !strings.HasSuffix(c.stdout.String(), "\n2,0.125\n") {
		t.Errorf("%q", c.stdout.String())
	}
}

// The only result needs no name; of several, and of one that there is not, the names are told.
func TestGetChoosesTheResult(t *testing.T) {
	c := newClient(t)
	folder := writeResult(c, "csv")
	c.want(0, c.run("get", "./models/digits-1"))
	if !strings.HasSuffix(c.stdout.String(), "\n2,0.125\n") {
		t.Errorf("%q", c.stdout.String())
	}
	c.want(exit.NotFound, c.run("get", "./models/digits-1", "neigbors"))
	if got := c.stderr.String(); !strings.Contains(got, `no result "neigbors"; its results: neighbors`) ||
		!strings.Contains(got, `Did you mean "neighbors"?`) {
		t.Errorf("stderr:\n%s", got)
	}
	if err := os.CopyFS(filepath.Join(folder, "assignments"),
		os.DirFS(filepath.Join(folder, "neighbors"))); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Usage, c.run("get", "./models/digits-1"))
	if got := c.stderr.String(); !strings.Contains(got, "several results: assignments, neighbors") {
		t.Errorf("stderr:\n%s", got)
	}
	empty := newClient(t)
	if err := os.MkdirAll(filepath.Join(empty.app.dir, "models", "digits-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	empty.want(exit.NotFound, empty.run("get", "./models/digits-1"))
	if got := empty.stderr.String(); !strings.Contains(got, "there is no result") {
		t.Errorf("stderr:\n%s", got)
	}
}

// A flag that get would ignore is refused.
func TestGetRefusesOutputFormats(t *testing.T) {
	c := newClient(t)
	writeResult(c, "csv")
	c.want(exit.Usage, c.run("get", "./models/digits-1", "-o", "json"))
	if got := c.stderr.String(); !strings.Contains(got, "whatever --output is") || c.stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr:\n%s", c.stdout.String(), got)
	}
	c.env["GRAM_OUTPUT"] = "json" // a person's setting is for verbs that have a choice
	c.want(0, c.run("get", "./models/digits-1"))
	writeResult(c, "jsonl")
	c.want(exit.Usage, c.run("get", "./models/digits-1", "--spreadsheet"))
}

func TestSpreadsheetsGetNoFormulas(t *testing.T) {
	plain := "label,score\n=cmd|' /C calc'!A0,-1.5\n+a,+1e3\n@b,-x\n\"-\",a\x1b[2J\n\"\t=1\",\u202ea\n,\"a,\"\"b\"\n"
	var out strings.Builder
	err := spreadsheet(&out, func(w io.Writer) error {
		_, err := io.WriteString(w, plain)
		return err
	})
	want := "label,score\n'=cmd|' /C calc'!A0,-1.5\n'+a,+1e3\n'@b,'-x\n'-,a\\x1b[2J\n'\\t=1,\\u202ea\n,\"a,\"\"b\"\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
	if err := spreadsheet(io.Discard, func(w io.Writer) error {
		_, err := io.WriteString(w, "a,b\nc\n")
		return err
	}); err == nil {
		t.Error("a row too short passes")
	}
}

// A part that is not what the index says ends the command; no half of a file is left.
func TestGetFindsDamage(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a changed part": func(path string) error {
			return os.WriteFile(path, []byte("query,distance\n2,0.25\n"), 0o600)
		},
		"a missing part": os.Remove,
		"a cut index": func(path string) error {
			return os.Truncate(filepath.Join(filepath.Dir(path), parts.IndexName), 40)
		},
	} {
		c := newClient(t)
		folder := writeResult(c, "csv")
		if err := spoil(filepath.Join(folder, "neighbors", "part-000001.csv")); err != nil {
			t.Fatal(err)
		}
		code := c.run("get", "./models/digits-1", "neighbors", "--out", "all.csv")
		if code == exit.OK || c.stderr.String() == "" {
			t.Errorf("%s: exit code %d, stderr %q", name, code, c.stderr)
		}
		left, err := filepath.Glob(filepath.Join(c.app.dir, "*all.csv*"))
		if hidden, _ := filepath.Glob(filepath.Join(c.app.dir, ".all.csv*")); err != nil || len(left)+len(hidden) > 0 {
			t.Errorf("%s: left %q %q, %v", name, left, hidden, err)
		}
	}
}

// rewriteResult makes a text the only part of a result.
func rewriteResult(c *session, folder, text string) {
	c.t.Helper()
	part := jobs.File{Name: "neighbors/part-000000.csv", Size: int64(len(text))}
	sum := sha256.Sum256([]byte(text))
	part.SHA256 = hex.EncodeToString(sum[:])
	index := parts.Index{Format: "csv", Columns: []string{"query", "distance"}}
	index.Parts = parts.List{{File: part, Rows: int64(strings.Count(text, "\n") - 1)}}
	emit := func(_ context.Context, name string, data []byte) (jobs.File, error) {
		return jobs.File{Name: name}, os.WriteFile(filepath.Join(folder, name), data, 0o600)
	}
	if _, err := parts.WriteIndex(c.t.Context(), emit, "neighbors", index); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, part.Name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}
