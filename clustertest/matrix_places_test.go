package clustertest_test

import (
	"os"
	"testing"

	"github.com/gram-compute/gram/clustertest"
)

// everyCase has a case of every kind of job.
func everyCase(t *testing.T) []clustertest.Case {
	t.Helper()
	return append(matrixCases(t, false), matrixCases(t, true)...)
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
