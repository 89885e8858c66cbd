package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// stored is a job that has succeeded, with files of the given contents.
func stored(t *testing.T, id, kind string, contents map[string]string) *gramv1.Job {
	t.Helper()
	dir, job := t.TempDir(), jobIn(id, succeeded)
	job.Kind, job.Name, job.FinishedUnixMs = kind, strings.Split(id, "-")[0], job.GetSubmittedUnixMs()+1000
	for _, name := range []string{"model.safetensors", "tiles/index.json", "report.json", "../escape"} {
		content, ok := contents[name]
		if !ok {
			continue
		}
		path := filepath.Join(dir, "out", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(content))
		job.Outputs = append(job.Outputs,
			&gramv1.OutputFile{Name: name, Uri: "file://" + path, Sha256: sum[:], Size: int64(len(content))})
	}
	return job
}

func TestModelList(t *testing.T) {
	model := map[string]string{"model.safetensors": "bytes"}
	pages := [][]*gramv1.Job{
		{stored(t, "digits-3", "KMeans", model), jobIn("glosses-2", running),
			stored(t, "glosses-1", "NaiveBayes", model)},
		{stored(t, "answers-1", "Predict", model), jobIn("bad", failed), stored(t, "digits-1", "KMeans", model)},
	}
	b := &backend{list: func(req *gramv1.ListRequest) (*gramv1.ListResponse, error) {
		if req.GetPageToken() == "" {
			return &gramv1.ListResponse{Jobs: pages[0], NextPageToken: "2"}, nil
		}
		return &gramv1.ListResponse{Jobs: pages[1]}, nil
	}}
	for _, c := range []struct {
		args []string
		want string
		more bool
	}{
		{nil, "digits-3 glosses-1 digits-1", false},
		{[]string{"--limit", "2"}, "digits-3 glosses-1", true},
		{[]string{"--limit", "3"}, "digits-3 glosses-1 digits-1", false},
		{[]string{"--kind", "KMeans", "--limit", "1"}, "digits-3", true},
		{[]string{"--name", "glosses"}, "glosses-1", false},
		{[]string{"--kind", "Predict"}, "", false},
	} {
		client := clientOf(t, b)
		client.want(0, client.run(append([]string{"model", "list", "-o", "json"}, c.args...)...))
		var got struct{ Models []listedView }
		if err := json.Unmarshal(client.stdout.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range got.Models {
			ids = append(ids, m.Job)
			if m.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte("bytes"))) || m.Size != 5 || m.Finished == "" ||
				m.URI == "" || m.Name == "" {
				t.Errorf("%+v", m)
			}
		}
		if strings.Join(ids, " ") != c.want || strings.Contains(client.stderr.String(), "there are more") != c.more {
			t.Errorf("%v: %v; stderr:\n%s", c.args, ids, client.stderr.String())
		}
	}
	client := clientOf(t, b)
	client.want(0, client.run("model", "list"))
	if got := client.stdout.String(); !strings.Contains(got, "digits-3   KMeans") ||
		!strings.Contains(got, "277089d91c0b") {
		t.Errorf("listed\n%s", got)
	}
	client.want(exit.Usage, client.run("model", "list", "--limit", "0"))
}

func TestModelGet(t *testing.T) {
	contents := map[string]string{"model.safetensors": "model", "tiles/index.json": "index", "report.json": "report"}
	job := stored(t, "k-1", "KernelMatrix", contents)
	c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
	for range 2 { // the second finds everything there
		c.want(0, c.run("model", "get", "k-1"))
	}
	for name, want := range contents {
		if got, err := os.ReadFile(filepath.Join(c.app.dir, "k-1", filepath.FromSlash(name))); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	c.stdout.Reset()
	c.want(0, c.run("model", "get", "k-1", "--out", "there", "-o", "json"))
	var got struct {
		Job   string
		Files []fetched
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil || got.Job != "k-1" || len(got.Files) != 3 ||
		got.Files[0].File != filepath.Join(c.app.dir, "there", "model.safetensors") {
		t.Errorf("%v: %s", err, c.stdout.String())
	}
	if err := os.WriteFile(filepath.Join(c.app.dir, "there", "report.json"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Usage, c.run("model", "get", "k-1", "--out", "there"))
	if kept, err := os.ReadFile(filepath.Join(c.app.dir, "there", "report.json")); string(kept) != "mine" ||
		!strings.Contains(c.stderr.String(), "other content") {
		t.Errorf("%q, %v; stderr:\n%s", kept, err, c.stderr.String())
	}
}

// Other bytes than the job made, names that leave the folder, and jobs without a model are written nowhere.
func TestModelGetRefuses(t *testing.T) {
	spoilt := stored(t, "a", "KMeans", map[string]string{"model.safetensors": "model"})
	spoilt.Outputs[0].Sha256 = make([]byte, 32)
	escaping := stored(t, "a", "KMeans", map[string]string{"../escape": "out", "model.safetensors": "model"})
	for _, job := range []*gramv1.Job{spoilt, escaping, jobIn("a", running), jobIn("a", failed)} {
		c := clientOf(t, &backend{get: func(string) (*gramv1.Job, error) { return job, nil }})
		c.want(exit.Failed, c.run("model", "get", "a", "--out", "sub/there"))
		for _, name := range []string{"sub/escape", "sub/there/escape"} {
			if _, err := os.Stat(filepath.Join(c.app.dir, filepath.FromSlash(name))); err == nil {
				t.Errorf("%s was written", name)
			}
		}
		if job == spoilt {
			if _, err := os.Stat(filepath.Join(c.app.dir, "sub", "there", "model.safetensors")); err == nil {
				t.Error("other bytes were written")
			}
		}
	}
}
