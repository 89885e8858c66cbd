package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// stopTimeout is what the cluster gets to drain and stop.
const stopTimeout = 40 * time.Second

// cluster is `gram dev` as a child process, and the workers it starts.
type cluster struct {
	binary string
	dir    string // what it keeps

	process *process.Process
	crashed []*process.Process // whose workers may go on speaking for a while
	mu      sync.Mutex
	listen  string // the address of its API, the same at every start
	config  string // the client configuration that it wrote
	worker  int    // the process id that worker-1 had last; 0 before it is known
}

// start runs `gram dev` and waits for the line that tells how to reach it.
func (c *cluster) start(ctx context.Context) error {
	c.mu.Lock()
	listen := c.listen
	c.mu.Unlock()
	reachable := make(chan struct{})
	var once sync.Once
	dev := exec.Command(c.binary, "dev", "--data", c.dir, "--listen", listen, "--workers", "2", "--lease-ttl", "2s", "--log-level", "error")
	dev.Env = process.Environment()
	p, err := process.Start(dev, func(line string) {
		if c.hear(line) {
			once.Do(func() { close(reachable) })
		}
	})
	if err != nil {
		return err
	}
	c.process = p
	select {
	case <-reachable:
		return nil
	case <-p.Done():
		return fmt.Errorf("gram dev ended: %w", p.Err())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var (
	workerLine  = regexp.MustCompile(`worker-1 is process (\d+)`)
	addressLine = regexp.MustCompile(`cluster on https://([^,]+),`)
)

// hear passes on what the cluster says, and notes its address and its first worker. It
// reports whether the line tells how to reach the cluster.
func (c *cluster) hear(line string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if config, ok := strings.CutPrefix(line, "export GRAM_CONFIG="); ok {
		c.config = strings.Trim(config, "'")
		return true
	}
	fmt.Fprintln(os.Stderr, line)
	if m := addressLine.FindStringSubmatch(line); m != nil {
		c.listen = m[1]
	}
	if m := workerLine.FindStringSubmatch(line); m != nil {
		c.worker, _ = strconv.Atoi(m[1]) // digits; 0 if there are too many
	}
	return false
}

// killWorker ends the first worker as a power cut would.
func (c *cluster) killWorker() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.worker == 0 {
		return errors.New("no worker was started")
	}
	return syscall.Kill(c.worker, syscall.SIGKILL)
}

// crash ends the coordinator as a power cut would.
func (c *cluster) crash() {
	c.process.Kill()
	c.crashed, c.process = append(c.crashed, c.process), nil
}

// stop ends the cluster in order, and finds fault with any other end.
func (c *cluster) stop() error {
	defer func() {
		for _, p := range c.crashed {
			p.Silent()
		}
	}()
	if c.process == nil {
		return nil
	}
	say("Stop the cluster.")
	if err := c.process.Stop(stopTimeout); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return nil
}

func newCluster(binary, dir string) *cluster {
	return &cluster{binary: binary, dir: filepath.Join(dir, "cluster"), listen: "127.0.0.1:0"}
}
