package main

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
)

// peers is the process in which the Python contenders live; benchmarks/peers/serve.py
// says what the lines mean. A nil *peers has no contenders.
type peers struct {
	process  *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	versions map[string]string
}

// startPeers starts the process with so many threads. flags are the CPU's.
func startPeers(folder string, threads int, flags []string) (*peers, error) {
	python := filepath.Join(folder, ".venv", "bin", "python")
	if _, err := os.Stat(python); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	cmd := exec.Command(python, "-B", filepath.Join(folder, "serve.py"))
	cmd.Env = append(os.Environ(), peerSettings(threads, flags)...)
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
	p := &peers{process: cmd, requests: requests, answers: bufio.NewReader(answers)}
	text, err := p.ask("describe")
	if err == nil {
		err = json.Unmarshal([]byte(text), &p.versions)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask the peers who they are: %w", err), p.stop())
	}
	return p, nil
}

// peerSettings makes the peers as fast as they can be: OpenBLAS knows few CPUs by name and may
// choose kernels half as wide for the others, so it is told. What the user has set stays.
func peerSettings(threads int, flags []string) []string {
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
func (p *peers) ask(format string, args ...any) (string, error) {
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

// contenders makes the data of a workload over there and returns who does it.
func (p *peers) contenders(workload string, seed uint64) ([]contender, error) {
	if p == nil {
		return nil, nil
	}
	names, err := p.ask("prepare %s %d", workload, seed)
	if err != nil {
		return nil, err
	}
	var all []contender
	for _, name := range strings.Fields(names) {
		all = append(all, contender{name: name, run: func(times int) (sample, error) { return p.run(name, times) }})
	}
	return all, nil
}

func (p *peers) run(name string, times int) (sample, error) {
	text, err := p.ask("run %s %d", name, times)
	if err != nil {
		return sample{}, err
	}
	var wall, cpu int64
	s := sample{Times: times}
	if _, err := fmt.Sscan(text, &wall, &cpu, &s.Checksum); err != nil {
		return s, fmt.Errorf("peers: %s answered %q: %w", name, text, err)
	}
	s.Wall, s.CPU = time.Duration(wall), time.Duration(cpu)
	return s, nil
}

// drop frees the data of the last workload.
func (p *peers) drop() error {
	if p == nil {
		return nil
	}
	_, err := p.ask("drop")
	return err
}

// stop lets the process end and waits for it.
func (p *peers) stop() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.requests.Close(), p.process.Wait())
}
