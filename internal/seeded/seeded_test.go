package seeded_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
)

// TestBugsAreCaught: every bug is named by a test of the tree that must find it.
func TestBugsAreCaught(t *testing.T) {
	source, err := os.ReadFile("seeded.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := ""
	for _, folder := range []string{
		"coordinator", "coordinator/lead", "coordinator/node", "coordinator/state", "coordinator/schedule", "dataset",
		"objstore/s3", "jobs/kinds/kernelmatrix", "jobs/kinds/kmeans", "kernelops", "clustertest",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", folder, "seeded_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		tests += string(text)
	}
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+Bug\s+= "`).FindAllStringSubmatch(string(source), -1)
	if len(names) != len(seeded.All()) || len(names) == 0 {
		t.Errorf("%d bugs are named, %d listed", len(names), len(seeded.All()))
	}
	for _, name := range names {
		if !strings.Contains(tests, "Caught(t, seeded."+name[1]+",") {
			t.Errorf("no test must find %s", name[1])
		}
	}
}
