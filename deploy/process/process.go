// Package process runs child processes that their owner hears, ends and waits for.
package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a running child.
type Process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when it has ended
	err   error         // of Wait, once done
	voice sync.WaitGroup
}

// ErrKilled is returned by Stop for a process that did not end within the limit.
var ErrKilled = errors.New("still running after SIGTERM, and so killed")

// Start starts cmd as Launch does. Every line that it, or a child of its, writes is heard without
// its end, one at a time.
func Start(cmd *exec.Cmd, hear func(line string)) (*Process, error) {
	said, says, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = says, says
	p, err := Launch(cmd)
	if err := errors.Join(err, says.Close()); err != nil {
		return nil, errors.Join(err, said.Close())
	}
	p.voice.Go(func() { listen(said, hear) })
	return p, nil
}

// Launch starts cmd, with the outputs that it has, in a process group of its own, so that a terminal's
// Ctrl-C reaches its owner alone. If the owner dies, cmd is asked to end, unless its SysProcAttr is set.
func Launch(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = attributes(syscall.SIGTERM)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() { // ends with the process, which Stop and Kill wait for
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// KillWithOwner has the kernel kill cmd, which need not be able to react, when its owner dies.
func KillWithOwner(cmd *exec.Cmd) { cmd.SysProcAttr = attributes(syscall.SIGKILL) }

func listen(said io.ReadCloser, hear func(line string)) {
	defer said.Close()
	for lines := bufio.NewReader(said); ; {
		line, err := lines.ReadString('\n')
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		if line != "" {
			hear(line)
		}
		if err != nil {
			return
		}
	}
}

// PID is its process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends it a signal; an error wraps os.ErrProcessDone if it has ended.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// ExitCode waits for the end and returns the code; -1 if a signal ended it.
func (p *Process) ExitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// Err says how it ended; nil is in order. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Kill ends it as a power cut would, and waits until it is gone. Children of its may speak on.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended already
	<-p.done
}

// Stop asks it to end in order, kills it after limit, and waits until it and its children are silent.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	kill := time.NewTimer(limit)
	defer kill.Stop()
	late := false
	select {
	case <-p.done:
	case <-kill.C:
		late = true
		p.Kill()
	}
	p.voice.Wait()
	if late {
		return fmt.Errorf("%v: %w", limit, ErrKilled)
	}
	return p.err
}

// Silent waits until all that it and its children have said was heard.
func (p *Process) Silent() { p.voice.Wait() }
