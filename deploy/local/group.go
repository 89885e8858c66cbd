package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

const (
	stopLimit    = 40 * time.Second // more than a worker takes to drain
	readyLimit   = 2 * time.Minute  // a busy machine takes long
	restartPause = 2 * time.Second  // so that people see that it was gone
	askEvery     = 50 * time.Millisecond
)

// service is a process that runs all the time.
type service struct {
	name    string
	pidFile string
	says    string // a part of the line that tells it serves; or
	listens string // the address it then listens on
	command func() *exec.Cmd
}

// group is services that stop together. Each is started again when it ends by itself.
type group struct {
	end     context.CancelFunc
	ending  context.Context
	keepers sync.WaitGroup
	mu      sync.Mutex
	failed  []error
}

// start starts services at once and returns when all of them serve.
func (g *group) start(ctx context.Context, services ...service) error {
	if g.ending == nil {
		g.ending, g.end = context.WithCancel(context.WithoutCancel(ctx))
	}
	var waits []func() error
	for _, s := range services {
		p, said, err := s.run()
		if err != nil {
			return fmt.Errorf("start %s: %w", s.name, err)
		}
		g.keepers.Go(func() { g.keep(s, p) })
		waits = append(waits, func() error { return s.await(ctx, p, said) })
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a started service serves.
func (s service) await(ctx context.Context, p *process.Process, said <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit,
		fmt.Errorf("%s does not serve after %v", s.name, readyLimit))
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-said:
			return nil
		case <-tick.C:
			if s.listens != "" && process.Answers(s.listens) {
				return nil
			}
		case <-p.Done():
			return fmt.Errorf("%s ended: %w", s.name, p.Err())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stop ends every service in order and tells which did not end so.
func (g *group) stop() error {
	if g.end == nil {
		return nil
	}
	g.end()
	g.keepers.Wait()
	return errors.Join(g.failed...)
}

// keep starts a service again whenever it ends, and stops it with the group.
func (g *group) keep(s service, p *process.Process) {
	for {
		select {
		case <-g.ending.Done():
			g.note(s, p.Stop(stopLimit))
			g.note(s, os.Remove(s.pidFile)) // the id may be that of another process soon
			return
		case <-p.Done():
			p.Silent()
			fmt.Fprintf(os.Stderr, "cluster: %s ended (%v); starting it again in %v\n", s.name, p.Err(), restartPause)
		}
		pause := time.NewTimer(restartPause)
		select {
		case <-pause.C:
		case <-g.ending.Done():
			pause.Stop()
			return
		}
		again, _, err := s.run()
		if err != nil {
			g.note(s, err)
			return
		}
		p = again
	}
}

func (g *group) note(s service, err error) {
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.failed = append(g.failed, fmt.Errorf("%s: %w", s.name, err))
	}
}

// run starts the process; said is closed when it has said what it says when it serves.
func (s service) run() (p *process.Process, said chan struct{}, err error) {
	said = make(chan struct{})
	var once sync.Once
	p, err = process.Start(s.command(), func(line string) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, line)
		if s.says != "" && strings.Contains(line, s.says) {
			once.Do(func() { close(said) })
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(s.pidFile, fmt.Appendln(nil, p.PID()), 0o600); err != nil {
		return nil, nil, errors.Join(err, p.Stop(stopLimit))
	}
	return p, said, nil
}
