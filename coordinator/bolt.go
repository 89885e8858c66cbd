package coordinator

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long to wait for another process to let go of the log.
const lockWait = 2 * time.Second

// boltOptions keep the free list out of every commit: it is rebuilt at open, and
// writing it made appends slow in large files.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: lockWait}
}

// openBolt opens the log once all of it was read, and compacted where most of it was free.
func openBolt(file string, log *slog.Logger) (*raftboltdb.BoltStore, error) {
	used, err := readBolt(file)
	if err == nil {
		if err := errors.Join(removeCopy(file), compactBolt(file, used, compactFrom)); err != nil {
			log.Warn("the log's file stays larger than it need be", "error", err)
		}
		var store *raftboltdb.BoltStore
		if store, err = openStore(file); err == nil {
			return store, nil
		}
	}
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) {
		err = damaged(err)
	}
	return nil, fmt.Errorf("open raft log %s: %w", file, err)
}

// openStore opens the file for writing. Its lock is on the file, not on the name: who waited for the lock while
// another process compacted the log would hold a file that has no name any more.
func openStore(file string) (*raftboltdb.BoltStore, error) {
	options := boltOptions()
	var opened os.FileInfo
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		if err == nil {
			opened, err = f.Stat()
		}
		return f, err
	}
	store, err := raftboltdb.New(raftboltdb.Options{Path: file, BoltOptions: options})
	if err == nil && !isFile(file, opened) {
		return nil, errors.Join(fmt.Errorf("%w: %w", bolterrors.ErrTimeout, errReplaced), store.Close())
	}
	return store, err
}

func damaged(cause any) error {
	return fmt.Errorf("%w: the file is damaged (%v): restore the raft folder from a copy, or remove the data directory to begin anew", ErrDataDir, cause)
}

// readBolt visits every page of the file, and returns how many bytes are in use. bbolt panics on
// a page that is damaged, and one that is cut off is a memory fault; opened for writing it meets them in a
// goroutine of its own, where nobody can recover.
func readBolt(file string) (used int64, err error) {
	if info, err := os.Stat(file); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = damaged(cause)
		}
	}()
	options := boltOptions()
	options.ReadOnly = true
	db, err := bbolt.Open(file, 0o600, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return used, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error {
			pages := bucket.Stats() // walks them
			used += int64(pages.BranchAlloc) + int64(pages.LeafAlloc)
			return nil
		})
	})
}
