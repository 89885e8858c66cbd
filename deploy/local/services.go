package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// server is the S3 server, with the bucket as a folder.
func (c *cluster) server() service {
	secret, _ := strings.CutPrefix(c.env[3], "AWS_SECRET_ACCESS_KEY=")
	return service{
		name: "s3", pidFile: c.path("s3.pid"), listens: c.s3,
		command: func() *exec.Cmd {
			cmd := exec.Command(c.versitygw, "--port", c.s3, "--quiet", "--keep-alive",
				"posix", "--sidecar", c.path("attributes"), c.path("objects"))
			cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=gram", "ROOT_SECRET_KEY="+secret)
			return cmd
		},
	}
}

// joined reports whether a member's data directory belongs to the cluster already.
func (c *cluster) joined(i int) (bool, error) {
	_, err := os.Stat(c.path(fmt.Sprint("c", i+1), "cluster-id"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// join makes a data directory whose member will join those before it.
func (c *cluster) join(ctx context.Context, i int) error {
	data := c.path(fmt.Sprint("c", i+1))
	join := c.command(ctx, "cluster", "join", strings.Join(c.api[:i], ","), "--data", data, "--node-id", fmt.Sprint("c", i+1),
		"--ca", c.path("c1", "pki"), "--token-file", c.path("c1", "admin.token"))
	if out, err := join.CombinedOutput(); err != nil {
		return fmt.Errorf("gram cluster join: %w\n%s", err, out)
	}
	return nil
}

// certify makes the certificate that a worker shows, anew at every start, so that none gets old.
func (c *cluster) certify(ctx context.Context, i int) error {
	name := fmt.Sprint("w", i+1)
	issue := c.command(ctx, "pki", "issue", "--ca", c.path("c1", "pki"), "--role", "worker", "--out", c.path(name), name)
	if out, err := issue.CombinedOutput(); err != nil {
		return fmt.Errorf("gram pki issue: %w\n%s", err, out)
	}
	return nil
}

// awaitVotes waits until every member is healthy and has a vote: before, the cluster does not outlive the first.
func (c *cluster) awaitVotes(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("the members did not all get a vote within %v", readyLimit))
	defer cancel()
	tick := time.NewTicker(4 * askEvery)
	defer tick.Stop()
	for {
		ask := c.command(ctx, "cluster", "members", "-o", "json", "--addr", strings.Join(c.api, ","),
			"--cacert", c.path("c1", "pki", "ca.pem"), "--token-file", c.path("c1", "admin.token"))
		text, err := ask.Output()
		if err == nil && votes(text) == members {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// votes counts the healthy voters of a list of members in JSON.
func votes(text []byte) (n int) {
	var list struct {
		Members []struct {
			Role    string
			Healthy bool
		}
	}
	if json.Unmarshal(text, &list) != nil {
		return 0
	}
	for _, m := range list.Members {
		if m.Healthy && m.Role != "non-voter" {
			n++
		}
	}
	return n
}

// member is a coordinator; all are started alike.
func (c *cluster) member(i int) service {
	name := fmt.Sprint("c", i+1)
	return service{
		name: name, pidFile: c.path(name + ".pid"), says: "gram: coordinator on ",
		command: func() *exec.Cmd {
			return c.command(context.Background(), "coordinator", "--data", c.path(name), "--node-id", name, "--listen", c.api[i], "--raft", c.raft[i],
				"--store", "s3://"+bucket, "--require-worker-certificates", "--lease-ttl", "5s", "--promote-after", "1s", "--log-level", "warn")
		},
	}
}

func (c *cluster) worker(i int) service {
	name := fmt.Sprint("w", i+1)
	return service{
		name: name, pidFile: c.path(name + ".pid"), says: "registered",
		command: func() *exec.Cmd {
			return c.command(context.Background(), "worker", "--addr", strings.Join(c.api, ","), "--cacert", c.path(name, "ca.pem"),
				"--cert", c.path(name, "worker.pem"), "--key", c.path(name, "worker-key.pem"),
				"--token-file", c.path("c1", "worker.token"), "--name", name, "--slots", "1", "--memory", "1GiB", "--file-root", c.input)
		},
	}
}

// command is a call of gram; the end of ctx kills it.
func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.gram, args...)
	cmd.Env = process.Environment(c.env...)
	return cmd
}
