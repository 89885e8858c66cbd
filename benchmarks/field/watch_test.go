package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

func TestParseStat(t *testing.T) {
	pid, parent, seconds, ok := parseStat("17 (a) b (c)) S 5 17 17 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 1 0 9 8 7")
	if !ok || pid != 17 || parent != 5 || seconds != 2 {
		t.Errorf("%d %d %v %v", pid, parent, seconds, ok)
	}
	for _, text := range []string{"", "17", "17 (a", "17 (a) S 5", "x (a) S 5 17 17 0 -1 4194304 1 2 3 4 150 50"} {
		if _, _, _, ok := parseStat(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

// A process whose parent has ended stays ours; one beside it never is.
func TestOursAreTheDescendants(t *testing.T) {
	w := &watcher{root: 10, cpu: map[int]float64{12: 0}}
	parents := map[int]int{10: 2, 11: 10, 13: 11, 12: 1, 14: 12, 20: 2, 21: 20, 2: 1}
	for pid := range parents {
		if got, want := w.ours(pid, parents), pid >= 10 && pid < 20; got != want {
			t.Errorf("process %d: %v, want %v", pid, got, want)
		}
	}
}

// A shell that starts another process: both count, and the peak is more than that of nothing.
func TestRunCountsTheProcessesOfACommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	// The loop takes some tenths of a second, in a shell below the shell.
	cmd := exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true`)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	c, err := run(cmd, 1)
	if err != nil || c.peak < 100<<10 || c.cpu <= 0 || c.seconds <= 0 || c.cpu > 2*c.seconds {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := run(exec.Command("sh", "-c", "exit 3"), 2); err == nil {
		t.Error("a command that failed is no error")
	}
}
