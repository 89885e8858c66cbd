package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// KeepLogSmall takes a snapshot whenever the log has grown by enough bytes, and leaves as many entries behind it as
// have room. In memory it returns at once. Raft's own snapshots, by number of entries, come beside it.
func (m *Member) KeepLogSmall(ctx context.Context, log *slog.Logger) {
	if m.meter == nil {
		return
	}
	for {
		select {
		case <-m.meter.due:
		case <-ctx.Done():
			return
		}
		settings := m.Raft.ReloadableConfig()
		settings.TrailingLogs = m.meter.trailing()
		err := m.Raft.ReloadConfig(settings)
		if err == nil {
			err = m.awaitSnapshot(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
			log.Warn("the log was not cut; it is tried again when it has grown", "error", err)
		}
	}
}

// awaitSnapshot has no time limit but ctx: a large state takes as long as it takes.
func (m *Member) awaitSnapshot(ctx context.Context) error {
	done := make(chan error, 1)
	future := m.Raft.Snapshot()
	if !m.tasks.Go(func() { done <- future.Error() }) {
		return outcome.ErrShutdown
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// DiskUse is how large the log's file and the snapshots of a data directory are; 0 in memory.
func DiskUse(dataDir string) (log, snapshots uint64) {
	if dataDir == "" {
		return 0, 0
	}
	dir := filepath.Join(dataDir, "raft")
	files, err := filepath.Glob(filepath.Join(dir, "snapshots", "*", "*"))
	if err != nil {
		return 0, 0 // the pattern is well-formed
	}
	size := func(file string) uint64 {
		info, err := os.Stat(file)
		if err != nil || info.IsDir() { // a snapshot may just have been removed
			return 0
		}
		return uint64(info.Size())
	}
	for _, file := range files {
		snapshots += size(file)
	}
	return size(filepath.Join(dir, LogFile)), snapshots
}
