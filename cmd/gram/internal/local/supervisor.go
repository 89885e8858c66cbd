package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Supervisor keeps worker processes running.
type Supervisor struct {
	Binary    string
	Arguments []string
	Stderr    io.Writer
	Note      func(format string, args ...any)
}

// restartPause is between the end of a worker and its next start.
const restartPause = time.Second

// drainLimit is what a worker gets to drain before it is killed.
const drainLimit = 30 * time.Second

// Run starts n workers, starts each again when it ends, and waits for them to drain
// once ctx ends or the coordinator failed.
func (s *Supervisor) Run(ctx context.Context, n int, failed <-chan error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var children sync.WaitGroup
	for i := range n {
		children.Go(func() { s.keep(ctx, fmt.Sprintf("worker-%d", i+1)) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("the coordinator stopped itself: %w", err)
	}
	cancel()
	children.Wait()
	return err
}

// keep runs one worker again and again.
func (s *Supervisor) keep(ctx context.Context, name string) {
	for {
		err := s.once(ctx, name)
		if ctx.Err() != nil {
			if err != nil {
				s.Note("gram: %s: %v", name, err)
			}
			return
		}
		s.Note("gram: %s ended (%s); starting it again", name, reason(err))
		timer := time.NewTimer(restartPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// once runs a worker to its end. The end of ctx is SIGTERM to it. Its stdin is a
// pipe that nobody writes to: should this process die, the pipe closes and it drains.
func (s *Supervisor) once(ctx context.Context, name string) error {
	cmd := exec.CommandContext(ctx, s.Binary, append(s.Arguments, "--name", name)...)
	cmd.Stderr = s.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = drainLimit
	ownGroup(cmd)
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer lifeline.Close()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.Note("gram: %s is process %d", name, cmd.Process.Pid)
	err = cmd.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // it drained after our SIGTERM
	}
	return err
}

func reason(err error) string {
	if err == nil {
		return "exit 0"
	}
	return err.Error()
}
