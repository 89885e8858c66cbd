package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/raft"
)

// RestoreOffline writes cfg.Restore's backup into cfg.DataDir, which must be empty but for
// its folder pki, and starts nothing: Start then finds a cluster of one there. Of cfg it
// reads DataDir, Restore, NodeID, Store, StoreURI and what bounds the disk.
func RestoreOffline(ctx context.Context, cfg Config) (_ *Restored, err error) {
	cfg = cfg.withTimes()
	if err := CheckEmpty(cfg.DataDir); err != nil {
		return nil, err
	}
	backup, report, err := survey(ctx, cfg)
	if err != nil {
		return nil, err
	}
	m := &member{}
	defer func() { err = errors.Join(err, m.close()) }()
	stores, err := m.openStores(cfg, func(error) {}) // nothing serves that could fail
	if err != nil {
		return nil, err
	}
	if cfg.NodeID, err = nodeID(cfg, stores.log); err != nil {
		return nil, err
	}
	// Where it listens is not known yet: the member that leads corrects its address.
	_, transport := raft.NewInmemTransport("not-started:0")
	m.transport = transport
	m.closers = append(m.closers, transport)
	return report, m.restore(cfg, stores, backup, report)
}

// CheckEmpty refuses a data directory that holds more than certificates.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the data directory: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() != "pki" {
			return fmt.Errorf("%w: %s holds %s; name another (a folder pki may be there)", ErrNotEmpty, dir, entry.Name())
		}
	}
	return nil
}
