package s3server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// readyWithin bounds a start; a busy machine takes seconds.
	readyWithin = 60 * time.Second
	// askEvery is the pause between two questions whether the server is up.
	askEvery = 10 * time.Millisecond
	// portTries bounds the search for a port that nobody takes in the meantime.
	portTries = 5
)

// child is a running process. done is closed when it has ended.
type child struct {
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
	err  error // of Wait, once done
}

func startChild(binary string, args, env []string) (*child, error) {
	c := &child{cmd: exec.Command(binary, args...), out: &output{}, done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	dieWithParent(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails only where it has ended already
	<-c.done
}

// output keeps what the child wrote last.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() > 64<<10 {
		o.buf.Reset()
	}
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// startSomewhere starts on a free port, on another if that one is taken meanwhile.
func (s *Server) startSomewhere(ctx context.Context) error {
	var errs []error
	for range portTries {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		s.addr = addr
		if err = s.start(ctx); err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// start starts the server on s.addr and returns once it answers.
func (s *Server) start(ctx context.Context) error {
	args, env, err := s.command()
	if err != nil {
		return err
	}
	c, err := startChild(s.binary, args, env)
	if err != nil {
		return err
	}
	if err := s.ready(ctx, c); err != nil {
		c.kill()
		return fmt.Errorf("start %s on %s: %w\n%s", s.opt.Program, s.addr, err, c.out)
	}
	s.child = c
	return nil
}

func (s *Server) ready(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("it ended at once: %w", errors.Join(c.err, err))
		case <-ctx.Done():
			return fmt.Errorf("not ready within %v: %w", readyWithin, err)
		case <-tick.C:
		}
	}
}
