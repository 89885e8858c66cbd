// Package peers asks the Python libraries that Gram is measured against, in a process of their own, and
// makes the same data as they do.
package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// Process is the process in which the Python contenders live; serve.py says what the
// lines mean. A nil *Process has no contenders.
type Process struct {
	command  *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	Versions map[string]string
}

// Start starts the process with a number of threads. flags are the CPU's.
func Start(folder string, threads int, flags []string) (*Process, error) {
	python := filepath.Join(folder, ".venv", "bin", "python")
	if _, err := os.Stat(python); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	cmd := exec.Command(python, "-B", filepath.Join(folder, "serve.py"))
	cmd.Env = append(os.Environ(), Settings(threads, flags)...)
	cmd.Stderr = os.Stderr
	requests, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the peers: %w", err)
	}
	p := &Process{command: cmd, requests: requests, answers: bufio.NewReader(answers)}
	text, err := p.ask("describe")
	if err == nil {
		err = json.Unmarshal([]byte(text), &p.Versions)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask the peers who they are: %w", err), p.Stop())
	}
	return p, nil
}

// Settings makes the peers as fast as they can be: OpenBLAS knows few CPUs by name and may
// choose kernels half as wide for the others, so it is told. What the user has set stays.
func Settings(threads int, flags []string) []string {
	n := strconv.Itoa(threads)
	set := []string{"OMP_NUM_THREADS=" + n, "OPENBLAS_NUM_THREADS=" + n, "OMP_WAIT_POLICY=passive"}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(f string) bool { return !slices.Contains(flags, f) })
	}
	switch {
	case os.Getenv("OPENBLAS_CORETYPE") != "":
	case has("avx512f", "avx512dq", "avx512bw", "avx512vl"):
		set = append(set, "OPENBLAS_CORETYPE=SKYLAKEX")
	case has("avx2", "fma"):
		set = append(set, "OPENBLAS_CORETYPE=HASWELL")
	}
	return set
}

// ask sends a request and returns the answer, without "ok".
func (p *Process) ask(format string, args ...any) (string, error) {
	request := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintln(p.requests, request); err != nil {
		return "", fmt.Errorf("peers: %s: %w", request, err)
	}
	line, err := p.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("peers: %s: no answer: %w", request, err)
	}
	if why, failed := strings.CutPrefix(line, "error "); failed {
		return "", fmt.Errorf("peers: %s: %s", request, strings.TrimSpace(why))
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "ok")), nil
}

// Prepare makes the data of a workload over there and returns the names of who does it.
func (p *Process) Prepare(workload string, seed uint64) ([]string, error) {
	if p == nil {
		return nil, nil
	}
	names, err := p.ask("prepare %s %d", workload, seed)
	return strings.Fields(names), err
}

// Run lets one do it that number of times.
func (p *Process) Run(name string, times int) (measure.Sample, error) {
	text, err := p.ask("run %s %d", name, times)
	if err != nil {
		return measure.Sample{}, err
	}
	var wall, cpu int64
	s := measure.Sample{Times: times}
	if _, err := fmt.Sscan(text, &wall, &cpu, &s.Checksum); err != nil {
		return s, fmt.Errorf("peers: %s answered %q: %w", name, text, err)
	}
	s.Wall, s.CPU = time.Duration(wall), time.Duration(cpu)
	return s, nil
}

// Drop frees the data of the last workload.
func (p *Process) Drop() error {
	if p == nil {
		return nil
	}
	_, err := p.ask("drop")
	return err
}

// Stop lets the process end and waits for it.
func (p *Process) Stop() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.requests.Close(), p.command.Wait())
}
