package clustertest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all"
)

// everyCase has a case of every kind of job.
func everyCase(t *testing.T) []clustertest.Case {
	t.Helper()
	cases := append(vectorCases(t), naiveBayesCase(t), grownCase(t), predictCase(t))
	specs := ""
	for _, c := range cases {
		specs += c.Spec(clustertest.Inputs{Input: "file:///in/", Queries: "file:///queries/", Model: "file:///model"})
	}
	for _, kind := range all.Kinds() {
		if !strings.Contains(specs, `"kind":"`+kind.Name+`"`) {
			t.Errorf("no case is a %s", kind.Name)
		}
	}
	return cases
}

// Every kind on three coordinators of which the leader is killed.
func TestMatrixQuorum(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	clustertest.MatrixQuorum(t, everyCase(t)...)
}

// Every kind over MinIO, which `make test-minio` runs.
func TestMatrixMinIO(t *testing.T) {
	if os.Getenv("REQUIRE_MINIO") == "" {
		t.Skip("`make test-minio` runs this")
	}
	clustertest.MatrixMinIO(t, everyCase(t)...)
}
