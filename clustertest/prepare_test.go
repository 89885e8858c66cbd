package clustertest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
)

// A directory that `gram cluster join` prepared becomes a member with no word of joining, and keeps
// no token; one that `gram cluster restore` prepared is a cluster of its own.
func TestPreparedDataDirectories(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 1, 2*time.Second)
	authority, data := filepath.Join(q.Home, "data", "pki"), filepath.Join(q.Home, "second")
	gram := func(want int, args ...string) string {
		t.Helper()
		stdout, stderr, code := clustertest.Run(t.Context(), t, q.Home, q.ClientEnv(), nil, args...)
		if code != want {
			t.Fatalf("gram %v: exit code %d, want %d\n%s", args, code, want, stderr)
		}
		return strings.TrimSpace(stdout)
	}
	gram(2, "cluster", "join", q.Addr, "--data", data) // no certificate
	gram(2, "cluster", "join", "nowhere", "--data", data, "--ca", authority)
	gram(5, "cluster", "join", q.Addr, "--data", data, "--ca", authority, "--node-id", "c1")
	gram(4, "cluster", "join", q.Addr, "--data", data, "--token-file", filepath.Join(q.Home, "data", "worker.token"))
	gram(0, "cluster", "join", q.Addr, "--data", data, "--node-id", "second")
	q.Alone(t, "--data", data, "--promote-after", "500ms")
	q.AwaitVotes(t, 2)
	if _, err := os.Stat(filepath.Join(data, "join.json")); !os.IsNotExist(err) {
		t.Errorf("the token that joining took is still there: %v", err)
	}
	gram(5, "cluster", "join", q.Addr, "--data", data, "--ca", authority)
	restorePrepared(t, q, gram)
}

func restorePrepared(t *testing.T, q *clustertest.Quorum, gram func(int, ...string) string) {
	t.Helper()
	store := "file://" + filepath.Join(q.Home, "store")
	restore := func(want int, file, data string, flags ...string) string {
		t.Helper()
		return gram(want, append([]string{"cluster", "restore", file, "--data", data, "--store", store}, flags...)...)
	}
	file, data := filepath.Join(q.Home, "kept"), filepath.Join(q.Home, "third")
	digest := gram(0, "cluster", "backup", file)
	restore(3, file+"-not", data)
	restore(5, file, filepath.Join(q.Home, "data"))
	restore(1, file, data, "--sha256", strings.Repeat("0", 64))
	damaged, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(file+"-damaged", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	restore(1, file+"-damaged", data)
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("what was refused left %s: %v", data, err)
	}
	if got := restore(0, file, data, "--sha256", digest, "--node-id", "first"); got != digest {
		t.Errorf("restored %s, backed up %s", got, digest)
	}
	restore(5, file, data)
	// As one of several that start alike: nobody answers at --join, and yet it begins.
	const advertised = "localhost:7481"
	gram(0, "pki", "issue", "--ca", filepath.Join(q.Home, "data", "pki"), "--out", filepath.Join(data, "pki"),
		"localhost")
	third := q.Alone(t, "--data", data, "--advertise", advertised, "--bootstrap", advertised, "--join", "localhost:1",
		"--token-file", filepath.Join(q.Home, "data", "admin.token"))
	listed := gram(0, "cluster", "members", "--addr", third.Addr, "--token-file", filepath.Join(data, "admin.token"))
	if !strings.Contains(listed, "first") || !strings.Contains(listed, advertised) {
		t.Errorf("members of the new cluster:\n%s", listed)
	}
}
