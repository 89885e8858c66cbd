package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gram-compute/gram/coordinator/node"
)

// RestoreOffline writes cfg.Restore's backup into cfg.DataDir, which must be empty but for
// its folder pki, and starts nothing: Start then finds a cluster of one there, and that of
// Config.Bootstrap belongs to it. Of cfg it reads DataDir, Restore, NodeID, the store and what bounds the disk.
func RestoreOffline(ctx context.Context, cfg Config) (_ *Restored, err error) {
	if err := CheckEmpty(cfg.DataDir); err != nil {
		return nil, err
	}
	c := unstarted(cfg.withTimes())
	c.member = node.New(c.tasks)
	defer func() { err = errors.Join(err, c.member.Close()) }()
	stores, err := c.member.OpenStores(c.cfg.node(), func(error) {}) // nothing serves that could fail
	if err != nil {
		return nil, err
	}
	if c.cfg.NodeID, err = node.ID(c.cfg.node(), stores.Log); err != nil {
		return nil, err
	}
	// Where it listens is not known yet: the member that leads corrects its address.
	c.member.OpenInMemory("not-started:0")
	if err := c.restore(ctx, stores); err != nil {
		return nil, err
	}
	word, err := beganWord(c.cfg.DataDir)
	if err == nil {
		_, err = c.cfg.Store.Put(ctx, beganKey, []byte(word))
	}
	return c.restored, err
}

// CheckEmpty refuses a data directory that holds more than certificates.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the data directory: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() != "pki" {
			return fmt.Errorf("%w: %s holds %s; name another (a folder pki may be there)", node.ErrNotEmpty, dir,
				entry.Name())
		}
	}
	return nil
}
