package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	deployed "github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// server is the S3 server, with the bucket as a folder.
func (c *cluster) server() service {
	return service{
		name: "s3", pidFile: c.path("s3.pid"), listens: c.s3.Address,
		command: func() *exec.Cmd { return c.s3.Command(os.Environ()) },
	}
}

// joined reports whether a member's data directory belongs to the cluster already.
func (c *cluster) joined(i int) (bool, error) {
	_, err := os.Stat(filepath.Join(c.members[i].Data, "cluster-id"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// join makes a data directory whose member will join those before it.
func (c *cluster) join(ctx context.Context, i int) error {
	m := c.members[i]
	join := c.command(ctx, "cluster", "join", strings.Join(c.api(i), ","), "--data", m.Data, "--node-id", m.ID,
		"--ca", c.home().PKI(), "--token-file", c.home().AdminToken())
	if out, err := join.CombinedOutput(); err != nil {
		return fmt.Errorf("gram cluster join: %w\n%s", err, out)
	}
	return nil
}

// certify makes the certificate that a worker shows, anew at every start, so that none gets old.
func (c *cluster) certify(ctx context.Context, i int) error {
	name := fmt.Sprint("w", i+1)
	issue := c.command(ctx, "pki", "issue", "--ca", c.home().PKI(), "--role", "worker",
		"--out", c.path(name), name)
	if out, err := issue.CombinedOutput(); err != nil {
		return fmt.Errorf("gram pki issue: %w\n%s", err, out)
	}
	return nil
}

// awaitVotes waits until every member is healthy and has a vote: before, the cluster does not outlive the first.
func (c *cluster) awaitVotes(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit,
		fmt.Errorf("the members did not all get a vote within %v", readyLimit))
	defer cancel()
	client, token, err := c.home().Client(0)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	var all []gramv1connect.ClusterServiceClient
	for _, m := range c.members {
		all = append(all, gramv1connect.NewClusterServiceClient(client, "https://"+m.API, token))
	}
	return deployed.AwaitVotes(ctx, members, func(ctx context.Context) []*gramv1.Member {
		return deployed.List(ctx, all...)
	})
}

// member is a coordinator; all are started alike.
func (c *cluster) member(i int) service {
	m := c.members[i]
	return service{
		name: m.ID, pidFile: c.path(m.ID + ".pid"), says: "gram: coordinator on ",
		command: func() *exec.Cmd {
			return c.command(context.Background(), m.Arguments("s3://"+bucket, "--require-worker-certificates",
				"--lease-ttl", "5s", "--promote-after", "1s", "--log-level", "warn")...)
		},
	}
}

func (c *cluster) worker(i int) service {
	name := fmt.Sprint("w", i+1)
	return service{
		name: name, pidFile: c.path(name + ".pid"), says: "registered",
		command: func() *exec.Cmd {
			return c.command(context.Background(), c.home().Worker(name, c.api(members),
				"--cert", c.path(name, "worker.pem"), "--key", c.path(name, "worker-key.pem"),
				"--slots", "1", "--memory", "1GiB", "--file-root", c.input)...)
		},
	}
}

// command is a call of gram; the end of ctx kills it.
func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.gram, args...)
	cmd.Env = process.Environment(c.s3.Env(c.s3.Address)...)
	return cmd
}
