package process_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// ear remembers lines, and can be waited on for one.
type ear struct {
	mu    sync.Mutex
	lines []string
	ready chan struct{} // closed at the line "ready"
}

func (e *ear) hear(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
	if line == "ready" {
		close(e.ready)
	}
}

func start(t *testing.T, script string) (*process.Process, *ear) {
	t.Helper()
	e := &ear{ready: make(chan struct{})}
	p, err := process.Start(exec.Command("sh", "-c", script), e.hear)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, e
}

func TestStopHearsTheLastWord(t *testing.T) {
	p, e := start(t, `trap 'echo bye; printf end >&2; exit 0' TERM; echo ready; while :; do sleep 0.1; done`)
	<-e.ready
	if err := p.Stop(time.Minute); err != nil {
		t.Error(err)
	}
	if want := []string{"ready", "bye", "end"}; !slices.Equal(e.lines, want) {
		t.Errorf("heard %q, want %q", e.lines, want)
	}
	if err := p.Stop(time.Minute); err != nil || p.Err() != nil {
		t.Errorf("stopped again: %v, %v", err, p.Err())
	}
}

func TestWhoDoesNotStopIsKilled(t *testing.T) {
	p, e := start(t, `trap '' TERM; echo ready; while :; do sleep 0.1; done`)
	<-e.ready
	if err := p.Stop(10 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("stop: %v", err)
	}
	if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAnEndByItselfIsTold(t *testing.T) {
	p, e := start(t, "echo a; echo; echo b; exit 3")
	<-p.Done()
	p.Silent()
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 3 || !slices.Equal(e.lines, []string{"a", "b"}) {
		t.Errorf("%v, heard %q", p.Err(), e.lines)
	}
	if _, err := process.Start(exec.Command("no-such-program"), func(string) {}); err == nil {
		t.Error("a program that is not there was started")
	}
}
