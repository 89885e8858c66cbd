package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

const (
	members = 3
	workers = 3
	bucket  = "gram"
)

// cluster is what run keeps.
type cluster struct {
	options
	s3   string   // the S3 server's address
	api  []string // addresses of the members
	raft []string
	env  []string // that reach the S3 server

	storage, coordinators, hands group // in the order they start; they stop in the other
}

// newCluster makes the directory and finds addresses; nothing runs yet.
func newCluster(o options) (*cluster, error) {
	c := &cluster{options: o}
	if _, err := os.Stat(filepath.Join(o.dir, "c1")); err == nil && o.port == 0 {
		return nil, fmt.Errorf("%s holds a cluster, whose members know each other by their ports: name the first one", o.dir)
	}
	// The S3 server takes a folder for a bucket, and keeps what it knows of objects beside them.
	for _, folder := range []string{filepath.Join("objects", bucket), "attributes"} {
		if err := os.MkdirAll(filepath.Join(o.dir, folder), 0o700); err != nil {
			return nil, err
		}
	}
	addresses, err := addresses(o.port, 1+2*members)
	if err != nil {
		return nil, err
	}
	for i := range members {
		c.api, c.raft = append(c.api, addresses[2*i]), append(c.raft, addresses[2*i+1])
	}
	c.s3 = addresses[2*members]
	secret, err := kept(filepath.Join(o.dir, "s3.secret"))
	if err != nil {
		return nil, err
	}
	c.env = []string{
		"AWS_ENDPOINT_URL_S3=http://" + c.s3, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=gram", "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_SESSION_TOKEN=",
	}
	return c, nil
}

// addresses are n on loopback, beginning at a port, or any that nobody listened on a moment ago.
func addresses(port, n int) (found []string, err error) {
	for i := range n {
		if port != 0 {
			found = append(found, fmt.Sprintf("127.0.0.1:%d", port+i))
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // until all are found, so that they differ
		found = append(found, listener.Addr().String())
	}
	return found, nil
}

// kept is the secret in a file, which is made when it is not there.
func kept(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		secret := rand.Text()
		return secret, os.WriteFile(file, []byte(secret+"\n"), 0o600)
	}
	return strings.TrimSpace(string(text)), err
}

func (c *cluster) path(names ...string) string {
	return filepath.Join(append([]string{c.dir}, names...)...)
}

// start starts everything in order, and returns when all of it serves.
func (c *cluster) start(ctx context.Context) error {
	if err := c.storage.start(ctx, c.server()); err != nil {
		return err
	}
	if err := c.startMembers(ctx); err != nil {
		return err
	}
	if err := c.awaitVotes(ctx); err != nil {
		return err
	}
	for i := range workers {
		if err := c.certify(ctx, i); err != nil {
			return err
		}
		if err := c.hands.start(ctx, c.worker(i)); err != nil {
			return err
		}
	}
	return c.writeEnvironment()
}

// startMembers starts the members that have joined before all at once, because none of them serves before
// most of them run. Those that are new join one at a time what serves then.
func (c *cluster) startMembers(ctx context.Context) error {
	var known []service
	var fresh []int
	for i := range members {
		switch joined, err := c.joined(i); {
		case err != nil:
			return err
		case joined:
			known = append(known, c.member(i))
		default:
			fresh = append(fresh, i)
		}
	}
	if err := c.coordinators.start(ctx, known...); err != nil {
		return err
	}
	for _, i := range fresh {
		if i > 0 {
			if err := c.join(ctx, i); err != nil {
				return err
			}
		}
		if err := c.coordinators.start(ctx, c.member(i)); err != nil {
			return err
		}
	}
	return nil
}

// stop ends everything: workers drain while there is a coordinator to hear of it, and the
// store goes last.
func (c *cluster) stop() error {
	return errors.Join(c.hands.stop(), c.coordinators.stop(), c.storage.stop())
}
