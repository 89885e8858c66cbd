// Package cluster runs the processes of a chaos run, each in a network namespace of its own where
// that can be had, and what is done to them: signals, and cuts of the network between them.
package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
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
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	err    error         // of Wait, once done
	wanted bool          // we ended it ourselves, or it does not run
	mayEnd bool          // it has a reason to end by itself
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
	dieWithParent(cmd)
	if _, err := fmt.Fprintf(out, "--- %s: started %s\n", time.Now().UTC().Format(time.RFC3339Nano), p.Name); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	done := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.done, p.err, p.wanted, p.paused, p.since = cmd, done, nil, false, false, time.Now()
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(done)
	}()
	return nil
}

// Running reports whether it was started and has not ended.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Paused reports whether it was paused and not resumed.
func (p *Process) Paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

// EndedByItself reports whether it ended though nobody asked it to.
func (p *Process) EndedByItself() bool {
	running := p.Running()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd != nil && !running && !p.wanted && !p.mayEnd
}

// Kill ends it as a power cut would, and waits until it is gone.
func (p *Process) Kill() {
	if !p.signal(syscall.SIGKILL, true) {
		return
	}
	<-p.ended()
}

// Terminate asks it to end, and kills it when it has not within the limit, which is an error.
func (p *Process) Terminate(limit time.Duration) error {
	if !p.signal(syscall.SIGTERM, true) {
		return nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended():
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s was still running %v after SIGTERM", p.Name, limit)
	}
}

// Pause stops it where it is: it notices nothing but the time.
func (p *Process) Pause() { p.setPaused(syscall.SIGSTOP, true) }

// Resume lets it go on.
func (p *Process) Resume() { p.setPaused(syscall.SIGCONT, false) }

func (p *Process) setPaused(sig syscall.Signal, paused bool) {
	if p.signal(sig, false) {
		p.mu.Lock()
		p.paused = paused
		p.mu.Unlock()
	}
}

func (p *Process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// signal reports whether there was a process to send it to.
func (p *Process) signal(sig syscall.Signal, ends bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return false
	}
	p.wanted = p.wanted || ends
	err := p.cmd.Process.Signal(sig)
	return err == nil || !errors.Is(err, os.ErrProcessDone)
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
