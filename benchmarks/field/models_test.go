package main

import (
	"os"
	"path/filepath"
	"testing"
)

// at is a run of a setting that made a model.
func at(threads, parts int, model string) sample {
	return sample{setting: setting{"small", threads, parts}, Model: model, Quality: "1"}
}

// Two threads make another model than one, whatever the files; the fourth run of a setting and the failed one of
// another are not counted.
func TestDifferentModelsByHand(t *testing.T) {
	failed := sample{setting: setting{"small", 2, 7}, Failed: "exit status 1", Model: "half"}
	samples := []sample{at(1, 1, "a"), at(1, 1, "a"), at(1, 1, "a"), at(1, 1, "late"), at(2, 1, "b"), at(1, 4, "a"),
		failed, at(2, 7, "b")}
	if models, of := different(samples, "small", 3); models != 2 || of != 6 {
		t.Errorf("%d models of %d runs, want 2 of 6", models, of)
	}
	if models, of := different(samples, "small", 4); models != 3 || of != 7 {
		t.Errorf("%d models of %d runs, want 3 of 7", models, of)
	}
	if models, of := different(nil, "small", 3); models != 0 || of != 0 {
		t.Errorf("%d models of %d runs of nothing", models, of)
	}
	if models, of := different([]sample{failed}, "small", 3); models != 0 || of != 0 {
		t.Errorf("%d models of %d failed runs", models, of)
	}
}

// What names times or places is no part of a model; a bit of it is.
func TestModelIsItsNumbers(t *testing.T) {
	model := func(job string, files map[string]string) string {
		t.Helper()
		out := t.TempDir()
		for name, text := range files {
			path := filepath.Join(out, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		digest, err := modelOf(job, out)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	first := model("kmeans", map[string]string{"kmeans-k3f9p2/model.safetensors": "abc", "kmeans-k3f9p2/report.json": "1"})
	again := model("kmeans", map[string]string{"kmeans-8x2mq4/model.safetensors": "abc", "kmeans-8x2mq4/report.json": "2"})
	other := model("kmeans", map[string]string{"centers.npy": "abd"})
	if first != again || first == other {
		t.Errorf("models %.8s, %.8s and %.8s", first, again, other)
	}
	parts := map[string]string{"knn-1/indices/part-000000.npy": "12", "knn-1/indices/part-000001.npy": "34"}
	if got := model("knn", parts); got == model("knn", map[string]string{"knn-1/indices/part-000000.npy": "12"}) {
		t.Errorf("the second part is no part of %.8s", got)
	}
	if _, err := modelOf("svm", t.TempDir()); err == nil {
		t.Error("a tool that left no model made one")
	}
}

func TestLinesAreThoseAUserWrites(t *testing.T) {
	if got := lines("# how\nimport x\n\n  # more\nx.run()  # now\n"); got != 2 {
		t.Errorf("%d lines, want 2", got)
	}
}

// Every tool of every job has its program, and those of Gram are the shortest.
func TestEveryToolHasItsProgram(t *testing.T) {
	for _, j := range jobs() {
		least := 0
		for _, tool := range j.tools {
			text, err := os.ReadFile(filepath.Join("tools", j.script(tool)))
			if err != nil {
				t.Errorf("%s, %s: %v", j.id, tool, err)
			}
			n := lines(string(text))
			if tool == toolGram {
				least = n
			} else if n < least {
				t.Logf("%s: %s takes %d lines, Gram %d", j.id, tool, n, least)
			}
		}
		if modelFiles[j.id] == nil {
			t.Errorf("%s has no files that are its model", j.id)
		}
	}
}
