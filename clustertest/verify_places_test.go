package clustertest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// With nothing but read access to a bucket, the binary checks a job whose process is gone, under every kernel set; a
// changed object is exit code 9, a missing one 10.
func TestVerifyOnS3(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t, s3server.Options{})
	bucket := server.Open(t, "proved")
	if _, err := bucket.Put(t.Context(), "in/rows.csv", []byte(strings.Join(cutRows(300), ""))); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "spec.json")
	spec := `{"apiVersion":"v1","kind":"KMeans","metadata":{"name":"proved"},"spec":{
		"input":{"uri":"s3://proved/in/rows.csv","format":"csv","label":1,"shard_bytes":3000},
		"output":{"uri":"s3://proved/out/"},"params":{"k":3,"max_rounds":3},"repro":{"seed":3},"run":{"proof":"full"}}}`
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	gram := func(code int, args ...string) string {
		t.Helper()
		stdout, stderr, got := clustertest.Run(t.Context(), t, home, server.Env(), nil, args...)
		if got != code {
			t.Fatalf("gram %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
		}
		return stdout
	}
	var job struct{ ID string }
	ran := gram(0, "run", "-f", file, "-o", "json", "--store", "s3://proved/work")
	if err := json.Unmarshal([]byte(ran), &job); err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("s3://proved/out/%s/", job.ID)
	sets := kernelops.All()
	if testing.Short() {
		sets = sets[:1] // make check-verify and make test-all try each; so does TestHonestJobsVerify
	}
	for _, ops := range sets {
		if out := gram(0, "verify", folder, "--all", "--kernels", ops.Name); !strings.Contains(out, "none is false") {
			t.Errorf("%s: %s", ops.Name, out)
		}
	}
	gram(0, "verify", job.ID, "--store", "s3://proved/work", "--sample", "20")
	key := "out/" + job.ID + "/model.safetensors"
	model := read(t, bucket, key)
	model[len(model)-1] ^= 1
	if _, err := bucket.Put(t.Context(), key, model); err != nil {
		t.Fatal(err)
	}
	if out := gram(9, "verify", folder); !strings.Contains(out, "model.safetensors") {
		t.Errorf("changed: %s", out)
	}
	if err := bucket.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if out := gram(10, "verify", folder); !strings.Contains(out, "model.safetensors") ||
		!strings.Contains(out, "incomplete") {
		t.Errorf("missing: %s", out)
	}
}
