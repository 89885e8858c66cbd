package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	deployed "github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
)

const (
	members = 3
	workers = 3
	bucket  = "gram"
)

// cluster is what run keeps.
type cluster struct {
	options
	members []deployed.Member
	s3      deployed.Store

	storage, coordinators, hands group // in the order they start; they stop in the other
}

// newCluster makes the directory and finds addresses; nothing runs yet.
func newCluster(o options) (*cluster, error) {
	c := &cluster{options: o}
	if _, err := os.Stat(filepath.Join(o.dir, "c1")); err == nil && o.port == 0 {
		return nil, fmt.Errorf("%s holds a cluster, whose members know each other by their ports: name the first one",
			o.dir)
	}
	secret, err := c.prepareStore()
	if err != nil {
		return nil, err
	}
	addresses, err := addresses(o.port, 1+2*members)
	if err != nil {
		return nil, err
	}
	for i := range members {
		id := fmt.Sprint("c", i+1)
		c.members = append(c.members,
			deployed.Member{ID: id, API: addresses[2*i], Raft: addresses[2*i+1], Data: c.path(id)})
	}
	c.s3.Address, c.s3.SecretKey = addresses[2*members], secret
	return c, nil
}

// prepareStore makes the S3 server's folders and secret.
func (c *cluster) prepareStore() (secret string, err error) {
	c.s3 = deployed.Store{Binary: c.versitygw, Folder: c.dir, AccessKey: "gram"}
	if err := c.s3.Prepare(bucket); err != nil {
		return "", err
	}
	return kept(c.path("s3.secret"))
}

// addresses are n on loopback, beginning at a port; from port 0, any that are free.
func addresses(port, n int) (found []string, err error) {
	if port == 0 {
		return process.Addresses(n)
	}
	for i := range n {
		found = append(found, fmt.Sprintf("127.0.0.1:%d", port+i))
	}
	return found, nil
}

// home is the data directory of the first member.
func (c *cluster) home() deployed.Home { return deployed.Home(c.members[0].Data) }

// api are the addresses of the first n members' API.
func (c *cluster) api(n int) (addresses []string) {
	for _, m := range c.members[:n] {
		addresses = append(addresses, m.API)
	}
	return addresses
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
