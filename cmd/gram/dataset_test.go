package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDatasetInspectAndSample(t *testing.T) {
	c := clientOf(t, &backend{})
	file := filepath.Join(t.TempDir(), "points.csv")
	if err := os.WriteFile(file, []byte("x,y,kind\n1,2,a\n3,4,b\n5,6,a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sets := []string{"--set", "spec.input.header=true", "--set", "spec.input.label=kind"}
	c.want(0, c.run(append([]string{"dataset", "inspect", file, "-o", "json"}, sets...)...))
	var got struct {
		SchemaVersion int `json:"schema_version"`
		DataSets      []struct {
			Records int
			Labels  struct{ Distinct int }
			Columns []struct {
				Name string
				Max  float64
			}
		} `json:"data_sets"`
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if d := got.DataSets[0]; d.Records != 3 || d.Labels.Distinct != 2 || len(d.Columns) != 2 || d.Columns[1].Max != 6 {
		t.Errorf("%+v", got)
	}
	c.stdout.Reset()
	c.want(0, c.run(append([]string{"dataset", "sample", file, "-n", "2"}, sets...)...))
	if n := strings.Count(c.stdout.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, c.stdout.String())
	}
}

func TestDatasetRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("1,2\n3,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		exit int
		says string
		args []string
	}{
		{2, "name data sets by URI, or a spec by -f", []string{"inspect"}},
		{2, "does not tell its format", []string{"inspect", "points"}},
		{2, "spec.input.width", []string{"inspect", "x.libsvm"}},
		{2, "--records -1", []string{"sample", bad, "-n", "-1"}},
		{1, "line 2, column 2", []string{"inspect", bad}},
		{1, "nothing matches", []string{"sample", bad + ".csv"}},
	} {
		c := clientOf(t, &backend{})
		c.want(k.exit, c.run(append([]string{"dataset"}, k.args...)...))
		if !strings.Contains(c.stderr.String(), k.says) {
			t.Errorf("%q: %s", k.args, c.stderr.String())
		}
	}
}
