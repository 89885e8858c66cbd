package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// supervisor keeps worker processes running.
type supervisor struct {
	a         *app
	binary    string
	arguments []string
}

// restartPause is between the end of a worker and its next start.
const restartPause = time.Second

// drainLimit is what a worker gets to drain before it is killed.
const drainLimit = 30 * time.Second

// run starts n workers, starts each again when it ends, and waits for them to drain
// once ctx ends or the coordinator failed.
func (s *supervisor) run(ctx context.Context, n int, failed <-chan error) error {
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
func (s *supervisor) keep(ctx context.Context, name string) {
	for {
		err := s.once(ctx, name)
		if ctx.Err() != nil {
			if err != nil {
				s.a.note("gram: %s: %v", name, err)
			}
			return
		}
		s.a.note("gram: %s ended (%s); starting it again", name, reason(err))
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
func (s *supervisor) once(ctx context.Context, name string) error {
	cmd := exec.CommandContext(ctx, s.binary, append(s.arguments, "--name", name)...)
	cmd.Stderr = s.a.err
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
	s.a.note("gram: %s is process %d", name, cmd.Process.Pid)
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

// shellQuote makes one word of a text for a POSIX shell.
func shellQuote(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:,@", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
