package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
)

// field is a run of the benchmark.
type field struct {
	options
	python  string
	flags   []string          // of the CPU
	judged  map[string]string // quality by job and digest
	missing map[string]string // tools that are not installed, and why
}

func newField(o options) (*field, error) {
	binary, err := filepath.Abs(o.gram)
	if err != nil {
		return nil, err
	}
	o.gram = binary
	if o.data, err = filepath.Abs(o.data); err != nil {
		return nil, err
	}
	if o.tools, err = filepath.Abs(o.tools); err != nil {
		return nil, err
	}
	f := &field{options: o, python: filepath.Join(o.data, "venv", "bin", "python"),
		flags: machine.Here().Flags, judged: map[string]string{},
		missing: map[string]string{}}
	if _, err := os.Stat(f.python); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the tools are not installed: run benchmarks/field/install")
	}
	return f, nil
}

// files is the folder of the files of a size.
func (f *field) files(size string) string { return filepath.Join(f.data, size) }

// sample is one run of a tool.
type sample struct {
	setting
	Others  float64 `json:"others"` // share of the processors' time that went elsewhere; below 0 it is not known
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
	Peak    int64   `json:"peak_bytes"`
	Model   string  `json:"model"` // SHA-256
	Quality string  `json:"quality"`
	Failed  string  `json:"failed,omitempty"`
}

// once runs a tool on a job.
func (f *field) once(ctx context.Context, j job, tool string, s setting) (result sample, err error) {
	result.setting = s
	out, err := os.MkdirTemp(f.data, "out-*")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	data := filepath.Join(f.files(s.Size), j.id, strconv.Itoa(s.Parts))
	cmd := f.command(ctx, j, tool, s, data, out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	activity := measure.StartWatch()
	cost, err := run(cmd, s.Threads)
	if ctx.Err() != nil {
		return result, ctx.Err()
	}
	result.Seconds, result.CPU, result.Peak = cost.seconds, cost.cpu, cost.peak
	result.Others = activity.ActivityBeside(time.Duration(cost.cpu * float64(time.Second))).Others
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		result.Failed = fmt.Sprintf("%v: %s", err, lines[len(lines)-1])
		return result, nil
	}
	if result.Model, err = modelOf(j.id, out); err != nil {
		return result, err
	}
	result.Quality, err = f.judge(ctx, j, result.Model, filepath.Join(f.files(s.Size), j.id, "1"), out)
	return result, err
}

// command is what a user types.
func (f *field) command(ctx context.Context, j job, tool string, s setting, data, out string) *exec.Cmd {
	script := filepath.Join(f.tools, "tools", j.script(tool))
	threads := strconv.Itoa(s.Threads)
	var cmd *exec.Cmd
	switch tool {
	case toolGram:
		args := append([]string{"run", "-q", "-f", "-", "--out", out, "--slots", threads}, j.overrides(s.Size)...)
		cmd = exec.CommandContext(ctx, f.gram, args...)
		text, err := os.ReadFile(script)
		if err != nil {
			cmd.Err = err
		}
		cmd.Stdin = bytes.NewReader(text)
		cmd.Dir = data // relative paths of a spec on stdin count from here
	case toolSklex:
		args := append([]string{"-m", "sklearnex", script, data, out}, j.arguments(s.Size)...)
		cmd = exec.CommandContext(ctx, f.python, args...)
	default:
		cmd = exec.CommandContext(ctx, f.python, append([]string{script, data, out}, j.arguments(s.Size)...)...)
	}
	cmd.Env = append(os.Environ(), peers.Settings(s.Threads, f.flags)...)
	cmd.Env = append(cmd.Env, "THREADS="+threads, "GOMAXPROCS="+threads, "PYTHONWARNINGS=ignore", "GRAM_CONFIG=",
		"PYSPARK_PYTHON="+f.python)
	return cmd
}

// cost is what a run took, of all its processes.
type cost struct {
	seconds, cpu float64
	peak         int64
}

// run starts the command, on one processor if it has one thread, and waits for its last process.
func run(cmd *exec.Cmd, threads int) (c cost, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if threads == 1 {
		undo, err := measure.BindLast()
		if err != nil {
			return c, err
		}
		defer func() { err = errors.Join(err, undo()) }()
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return c, err
	}
	watched := watch(cmd.Process.Pid)
	err = cmd.Wait() // until every process has closed its output
	c.seconds = time.Since(begun).Seconds()
	c.peak, c.cpu = watched.stop(cmd.ProcessState)
	return c, err
}

// judge returns the quality of a model, and asks once for each.
func (f *field) judge(ctx context.Context, j job, model, data, out string) (string, error) {
	key := j.id + " " + model
	if known, ok := f.judged[key]; ok {
		return known, nil
	}
	cmd := exec.CommandContext(ctx, f.python, "-B", filepath.Join(f.tools, "judge.py"), j.id, data, out)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("judge %s: %w", j.id, err)
	}
	f.judged[key] = strings.TrimSpace(string(text))
	return f.judged[key], nil
}
