package coordinator

import (
	"errors"
	"fmt"
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

// openBolt opens the log once all of it was read.
func openBolt(file string) (*raftboltdb.BoltStore, error) {
	err := readBolt(file)
	if err == nil {
		var store *raftboltdb.BoltStore
		if store, err = raftboltdb.New(raftboltdb.Options{Path: file, BoltOptions: boltOptions()}); err == nil {
			return store, nil
		}
	}
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) {
		err = damaged(err)
	}
	return nil, fmt.Errorf("open raft log %s: %w", file, err)
}

func damaged(cause any) error {
	return fmt.Errorf("%w: the file is damaged (%v): restore the raft folder from a copy, or remove the data directory to begin anew", ErrDataDir, cause)
}

// readBolt visits every page of the file. bbolt panics on one that is damaged, and
// one that is cut off is a memory fault; opened for writing it meets them in a
// goroutine of its own, where nobody can recover.
func readBolt(file string) (err error) {
	if info, err := os.Stat(file); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
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
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error {
			bucket.Stats() // walks its pages
			return nil
		})
	})
}
