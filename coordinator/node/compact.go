package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

const (
	// compactFrom is the size from which the log's file is looked at: a smaller one is left as it is.
	compactFrom = 32 << 20
	compactStep = 16 << 20 // of one transaction while copying
)

// errReplaced: the file that was opened is not the one that has its name now.
var errReplaced = errors.New("another process has put another file in its place")

// compactBolt copies the log to a new file when most of the old one is free: bbolt uses free pages again, but
// never gives them back. The copy is whole and synced before it takes the name, so a crash at any moment
// leaves one file or the other. The lock on the old file is held until then.
func compactBolt(file string, used, from int64) (err error) {
	info, err := os.Stat(file)
	if err != nil || info.Size() < from || info.Size() < 2*used {
		return nil // not there yet, or not worth it
	}
	old, err := bbolt.Open(file, 0o600, boltOptions())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if !isFile(file, info) { // somebody was faster
		return nil
	}
	copied := copyName(file)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("compact %s: %w", file, DiskError(err)), removeCopy(file))
		}
	}()
	if err := copyBolt(copied, old); err != nil {
		return err
	}
	if err := os.Rename(copied, file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func copyBolt(name string, from *bbolt.DB) error {
	options := boltOptions()
	options.NoSync = true // once, at the end
	to, err := bbolt.Open(name, 0o600, options)
	if err != nil {
		return err
	}
	err = bbolt.Compact(to, from, compactStep)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

func copyName(file string) string { return file + ".compact" }

// removeCopy removes what a compaction left that did not come to its end.
func removeCopy(file string) error {
	if err := os.Remove(copyName(file)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// isFile reports whether the name stands for that file now.
func isFile(name string, info os.FileInfo) bool {
	now, err := os.Stat(name)
	return err == nil && os.SameFile(now, info)
}
