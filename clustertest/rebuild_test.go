package clustertest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
)

// A member whose log has a flipped bit says so in one line, ends with the exit code for it, and comes back as a new
// member by one command; so does one whose log is gone.
func TestRebuild(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 3, 2*time.Second)
	gram := func(want int, args ...string) string {
		t.Helper()
		_, stderr, code := clustertest.Run(t.Context(), t, q.Home, q.ClientEnv(), nil, args...)
		if code != want {
			t.Fatalf("gram %v: exit code %d, want %d\n%s", args, code, want, stderr)
		}
		return stderr
	}
	for name, harm := range map[string]func(log string) error{
		"c2": func(log string) error { // in a page that is in use: the second meta page
			text, err := os.ReadFile(log)
			if err != nil {
				return err
			}
			text[os.Getpagesize()+40] ^= 1
			return os.WriteFile(log, text, 0o600)
		},
		"c3": os.Remove,
	} {
		m := q.Members[slices.IndexFunc(q.Members, func(m *clustertest.Member) bool { return m.ID == name })]
		gram(1, "cluster", "rebuild", q.Addr, "--data", m.Data) // it runs
		if err := m.Stop(t); err != nil {
			t.Error(err)
		}
		if err := harm(filepath.Join(m.Data, "raft", "log.db")); err != nil {
			t.Fatal(err)
		}
		q.Start(t, m)
		if code := m.ExitCode(); code != 9 {
			t.Errorf("%s: exit code %d", name, code)
		}
		said := m.Output()
		if strings.Contains(said, "goroutine") ||
			!strings.Contains(said, "gram cluster rebuild ADDRESS --data "+m.Data) {
			t.Errorf("%s says:\n%s", name, said)
		}
		gram(2, "cluster", "rebuild", q.Addr, "--data", m.Data, "--node-id", name)
		gram(0, "cluster", "rebuild", q.Members[0].Addr, "--data", m.Data, "--node-id", name+"-new")
		m.ID = name + "-new"
		q.Start(t, m)
		q.AwaitListening(t, m)
		q.AwaitVotes(t, 3)
	}
}
