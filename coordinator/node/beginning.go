package node

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gram-compute/gram/coordinator/logstore"
)

// checkDisk reads all that raft will believe, before raft does: every entry, the term, the vote and the snapshots. What
// is damaged and covered by the rest is put aside, with a warning; else the error wraps ErrDamaged.
func checkDisk(
	cfg Config, log *logstore.Checked, found *logstore.File, snapshots *logstore.Snapshots,
) error {
	raftDir := filepath.Join(cfg.DataDir, "raft")
	file := filepath.Join(raftDir, LogFile)
	upgraded, err := log.Upgrade(found)
	if err != nil {
		return checkError(file, err)
	}
	if upgraded > 0 {
		cfg.Logger.Info("the log was written by a version without checksums: its entries have them from now on",
			"entries", upgraded)
	}
	bad, err := log.Verify(found)
	if err != nil {
		return checkError(file, err)
	}
	kept, err := snapshots.Check()
	if err != nil {
		return err
	}
	begin, err := logstore.Decide(found.Entries, bad, kept)
	if err != nil {
		return damaged(file, err)
	}
	for _, s := range kept {
		if s.Err == nil {
			continue
		}
		if err := snapshots.PutAside(s.ID); err != nil {
			return DiskError(err)
		}
		cfg.Logger.Error("a snapshot is damaged and was put aside; nothing is lost, the others and the log hold the "+
			"same. See to the disk", "snapshot", s.ID, "why", s.Err, "to", filepath.Join(raftDir, logstore.AsideFolder),
			"begins", begin.Snapshot)
	}
	if begin.CutTo == 0 {
		return nil
	}
	if err := log.DeleteRange(found.Entries[0], begin.CutTo); err != nil {
		return fmt.Errorf("cut the log: %w", DiskError(err))
	}
	cfg.Logger.Error("entries of the log are damaged and were cut off; nothing is lost, a snapshot covers them. "+
		"See to the disk", "entries", len(bad), "up_to", begin.CutTo, "snapshot", begin.Snapshot)
	return nil
}

func checkError(file string, err error) error {
	if errors.Is(err, logstore.ErrDamaged) {
		return damaged(file, err)
	}
	return fmt.Errorf("check raft log %s: %w", file, DiskError(err))
}
