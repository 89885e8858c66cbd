// Package cluster runs the processes of a chaos run, each in a network namespace of its own where
// that can be had, and what is done to them: signals, and cuts of the network between them.
package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// Process is a program that is started, ended and started again. Its output is appended to one file.
type Process struct {
	Name   string
	prefix []string // a command that runs another in a namespace
	binary string
	args   []string
	env    []string
	more   []string // variables, from the next start on
	log    string   // file

	mu     sync.Mutex
	now    *process.Process // nil before the first start
	wanted bool             // we ended it ourselves, or it does not run
	mayEnd bool             // it has a reason to end by itself
	paused bool
	since  time.Time // its last start
}

// Disturb sets variables more for the next starts. The process must not run.
func (p *Process) Disturb(env ...string) { p.more = env }

// MayEnd tells whether the process has a reason to end by itself now, such as a damaged disk.
func (p *Process) MayEnd(may bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mayEnd = may
}

// Start starts it. It must not run.
func (p *Process) Start() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	argv := append(append(append([]string(nil), p.prefix...), p.binary), p.args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(slices.Clone(p.env), p.more...), out, out
	process.KillWithOwner(cmd) // a paused one could not end in order
	if _, err := fmt.Fprintf(out, "--- %s: started %s\n", time.Now().UTC().Format(time.RFC3339Nano),
		p.Name); err != nil {
		return err
	}
	now, err := process.Launch(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.wanted, p.paused, p.since = now, false, false, time.Now()
	return nil
}

// last is the process that was started last; nil before the first start.
func (p *Process) last() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Running reports whether it was started and has not ended.
func (p *Process) Running() bool {
	now := p.last()
	return now != nil && now.Running()
}

// Paused reports whether it was paused and not resumed.
func (p *Process) Paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

// EndedByItself reports whether it ended though nobody asked it to.
func (p *Process) EndedByItself() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now != nil && !p.now.Running() && !p.wanted && !p.mayEnd
}

// end marks the end as wanted, and returns what there is to end.
func (p *Process) end() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = p.wanted || p.now != nil
	return p.now
}

// Kill ends it as a power cut would, and waits until it is gone.
func (p *Process) Kill() {
	if now := p.end(); now != nil {
		now.Kill()
	}
}

// Terminate asks it to end, and kills it when it has not within the limit, which is an error.
func (p *Process) Terminate(limit time.Duration) error {
	now := p.end()
	if now == nil || !now.Running() {
		return nil
	}
	if err := now.Stop(limit); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// Pause stops it where it is: it notices nothing but the time.
func (p *Process) Pause() { p.setPaused(syscall.SIGSTOP, true) }

// Resume lets it go on.
func (p *Process) Resume() { p.setPaused(syscall.SIGCONT, false) }

func (p *Process) setPaused(sig syscall.Signal, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != nil && p.now.Signal(sig) == nil {
		p.paused = paused
	}
}

// Log is the file of its output.
func (p *Process) Log() string { return p.log }

// lastWords is how much of the end of a log LastWords looks at.
const lastWords = 2000

// LastWords is the last line that it wrote.
func (p *Process) LastWords() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text[max(0, len(text)-lastWords):])), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
