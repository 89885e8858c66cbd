package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/deploy/process"
	"github.com/gram-compute/gram/internal/seeded"
)

// binary builds cmd/gram once per test process. GOAMD64 and other Go settings come
// from the environment, as for any build.
var binary = sync.OnceValues(func() (string, error) {
	if seeded.Enabled {
		return withBugs()
	}
	return build()
})

// faulty builds cmd/gram with package faults once per test process.
var faulty = sync.OnceValues(func() (string, error) {
	if seeded.Enabled { // a build with seeded bugs has package faults too
		return binary()
	}
	return build("-tags=faults")
})

// withBugs builds a gram that holds the seeded bugs.
func withBugs() (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	const plant = "github.com/gram-compute/gram/internal/seeded/plant"
	flags, err := exec.Command("go", "run", plant, dir).Output()
	if err != nil {
		return "", fmt.Errorf("plant the seeded bugs: %w", err)
	}
	return build(strings.Split(strings.TrimSpace(string(flags)), "\n")...)
}

func build(flags ...string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "gram")
	build := exec.Command("go", append(append([]string{"build"}, flags...),
		"-o", file, "github.com/gram-compute/gram/cmd/gram")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gram: %w\n%s", err, out)
	}
	return file, nil
}

// folder makes a folder for what is built.
func folder() (string, error) {
	dir, err := os.MkdirTemp("", "gram-test-*")
	if err == nil {
		built = append(built, dir)
	}
	return dir, err
}

// built are the folders that RemoveBinary deletes.
var built []string

// RemoveBinary deletes the binaries that were built; call it at the end of TestMain.
func RemoveBinary() {
	for _, dir := range built {
		os.RemoveAll(dir)
	}
}

func skipRaced(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("starts processes, of which the race detector sees none; make test runs it")
	}
}

// FaultyBinary is the path of a gram that package faults can disturb.
func FaultyBinary(t testing.TB) string {
	t.Helper()
	skipRaced(t)
	file, err := faulty()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Binary is the path of a freshly built gram.
func Binary(t testing.TB) string {
	t.Helper()
	skipRaced(t)
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Process is a running gram. Its output is kept.
type Process struct {
	*process.Process
	out lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Start runs gram with an environment of its own: PATH, HOME and what env adds.
func Start(t testing.TB, home string, env []string, args ...string) *Process {
	t.Helper()
	return StartProgram(t, Binary(t), home, env, args...)
}

// StartProgram is Start with another gram than Binary.
func StartProgram(t testing.TB, program, home string, env []string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = process.Bare(home, env...)
	if seeded.Enabled {
		cmd.Env = append(cmd.Env, "GRAM_SEEDED_BUG="+os.Getenv("GRAM_SEEDED_BUG"))
	}
	p := &Process{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, &p.out, &p.out
	var err error
	if p.Process, err = process.Launch(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.Ended() {
			return
		}
		p.Kill()
		if t.Failed() {
			t.Logf("gram %s said:\n%s", strings.Join(args, " "), p.Output())
		}
	})
	return p
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool { return !p.Running() }

// Output is what the process said so far.
func (p *Process) Output() string { return p.out.String() }

// Pause stops the process where it is, and Resume lets it go on: it notices nothing but the time.
func (p *Process) Pause(t testing.TB) { p.signal(t, syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume(t testing.TB) { p.signal(t, syscall.SIGCONT) }

func (p *Process) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.Signal(sig); err != nil {
		t.Fatalf("%v: %v", sig, err)
	}
}

// stopLimit is more than a worker takes to drain.
const stopLimit = 40 * time.Second

// Stop asks the process to end with SIGTERM and returns how it ended.
func (p *Process) Stop(t testing.TB) error {
	t.Helper()
	err := p.Process.Stop(stopLimit)
	if errors.Is(err, process.ErrKilled) {
		t.Errorf("%v; it said:\n%s", err, p.Output())
	}
	return err
}

// PeakMemory is the most memory of the running process that was resident so far, in bytes, as
// Linux counts it (VmHWM in /proc/PID/status).
func (p *Process) PeakMemory(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		kib := int64(0)
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatal("the status of the process has no VmHWM")
	return 0
}

// Run runs gram to its end and returns stdout, stderr and the exit code.
func Run(ctx context.Context, t testing.TB, home string, env []string, stdin io.Reader, args ...string) (stdout,
	stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Env = process.Bare(home, env...)
	cmd.Dir = home
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("gram %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}
