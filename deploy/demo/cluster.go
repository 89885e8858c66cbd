package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	deployed "github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
)

// stopTimeout is what the cluster gets to drain and stop.
const stopTimeout = 40 * time.Second

// cluster is `gram dev` as a child process, and the workers it starts.
type cluster struct {
	binary string
	dir    string // what it keeps

	dev     *deployed.Dev      // nil while it does not run
	crashed []*process.Process // whose workers may go on speaking for a while
	listen  string             // the address of its API, the same at every start
	config  string             // the client configuration that it wrote
	mu      sync.Mutex
	worker  int // the process id that worker-1 had last; 0 before it is known
}

// start runs `gram dev` and waits for the line that tells how to reach it.
func (c *cluster) start(ctx context.Context) (err error) {
	c.dev, err = deployed.StartDev(ctx, c.binary, c.dir, c.listen, c.hear,
		"--workers", "2", "--lease-ttl", "2s", "--log-level", "error")
	if err == nil {
		c.listen, c.config = c.dev.Listen, c.dev.Config
	}
	return err
}

var workerLine = regexp.MustCompile(`worker-1 is process (\d+)`)

// hear passes on what the cluster says, and notes its first worker.
func (c *cluster) hear(line string) {
	fmt.Fprintln(os.Stderr, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := workerLine.FindStringSubmatch(line); m != nil {
		c.worker, _ = strconv.Atoi(m[1]) // digits; 0 if there are too many
	}
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
	c.dev.Kill()
	c.crashed, c.dev = append(c.crashed, c.dev.Process), nil
}

// stop ends the cluster in order, and finds fault with any other end.
func (c *cluster) stop() error {
	defer func() {
		for _, p := range c.crashed {
			p.Silent()
		}
	}()
	if c.dev == nil {
		return nil
	}
	say("Stop the cluster.")
	if err := c.dev.Stop(stopTimeout); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return nil
}

func newCluster(binary, dir string) *cluster {
	return &cluster{binary: binary, dir: filepath.Join(dir, "cluster"), listen: "127.0.0.1:0"}
}
