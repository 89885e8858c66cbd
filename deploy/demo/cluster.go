package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is what the cluster gets to drain and stop.
const stopTimeout = 40 * time.Second

// cluster is `gram dev` as a child process, and the workers it starts.
type cluster struct {
	binary string
	dir    string // what it keeps
	listen string // the address of its API, the same at every start
	config string // the client configuration that it wrote

	process *exec.Cmd
	voices  sync.WaitGroup // copy what the processes say, until the last of them is gone
	mu      sync.Mutex
	worker  int // the process id that worker-1 had last; 0 before it is known
}

// start runs `gram dev` and waits for the line that tells how to reach it.
func (c *cluster) start(ctx context.Context) error {
	c.mu.Lock()
	listen := c.listen
	c.mu.Unlock()
	cmd := exec.CommandContext(ctx, c.binary, "dev", "--data", c.dir, "--listen", listen,
		"--workers", "2", "--lease-ttl", "2s", "--log-level", "error")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	said, says, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stderr = says
	err = cmd.Start()
	says.Close()
	if err != nil {
		said.Close()
		return err
	}
	c.process = cmd
	c.voices.Go(func() { c.listenTo(said) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	config, ok := strings.CutPrefix(strings.TrimSpace(line), "export GRAM_CONFIG=")
	if !ok {
		return fmt.Errorf("gram dev printed %q instead of how to reach it", line)
	}
	c.config = strings.Trim(config, "'")
	return nil
}

var (
	workerLine  = regexp.MustCompile(`worker-1 is process (\d+)`)
	addressLine = regexp.MustCompile(`cluster on https://([^,]+),`)
)

// listenTo passes on what the cluster says, and notes its address and its first worker.
func (c *cluster) listenTo(said *os.File) {
	defer said.Close()
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(os.Stderr, lines.Text())
		c.mu.Lock()
		if m := addressLine.FindStringSubmatch(lines.Text()); m != nil {
			c.listen = m[1]
		}
		if m := workerLine.FindStringSubmatch(lines.Text()); m != nil {
			c.worker, _ = strconv.Atoi(m[1]) // digits; 0 if there are too many
		}
		c.mu.Unlock()
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
func (c *cluster) crash() error {
	if err := c.process.Process.Kill(); err != nil {
		return err
	}
	_ = c.process.Wait() // says that it was killed
	c.process = nil
	return nil
}

// stop ends the cluster in order, and finds fault with any other end.
func (c *cluster) stop() error {
	defer c.voices.Wait()
	if c.process == nil {
		return nil
	}
	say("Stop the cluster.")
	if err := c.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = c.process.Process.Kill() })
	defer kill.Stop()
	if err := c.process.Wait(); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return nil
}

func newCluster(binary, dir string) *cluster {
	return &cluster{binary: binary, dir: filepath.Join(dir, "cluster"), listen: "127.0.0.1:0"}
}
