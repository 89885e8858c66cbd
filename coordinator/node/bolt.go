package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/gram-compute/gram/coordinator/logstore"
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

// openBolt opens the log once all of it was read, and compacted where most of it was free. found is what the
// file held before.
func openBolt(file string, log *slog.Logger) (store *logstore.Bolt, found *logstore.File, err error) {
	found, err = readBolt(file)
	if err == nil {
		if err := errors.Join(removeCopy(file), compactBolt(file, found.Used, compactFrom)); err != nil {
			log.Warn("the log's file stays larger than it need be", "error", err)
		}
		if store, err = openStore(file); err == nil {
			return store, found, nil
		}
	}
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) ||
		errors.Is(err, logstore.ErrDamaged) {
		return nil, nil, damaged(file, err)
	}
	return nil, nil, fmt.Errorf("open raft log %s: %w", file, err)
}

// openStore opens the file for writing. Its lock is on the file, not on the name: who waited for the lock while
// another process compacted the log would hold a file that has no name any more.
func openStore(file string) (*logstore.Bolt, error) {
	options := boltOptions()
	var opened os.FileInfo
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		if err == nil {
			opened, err = f.Stat()
		}
		return f, err
	}
	store, err := logstore.Open(file, options)
	if err == nil && !isFile(file, opened) {
		return nil, errors.Join(fmt.Errorf("%w: %w", bolterrors.ErrTimeout, errReplaced), store.Close())
	}
	return store, err
}

// ErrDamaged: files of the data directory are lost, or hold other bytes than were written. The member cannot begin with
// them.
var ErrDamaged = fmt.Errorf("%w: damaged", ErrDataDir)

// damaged tells what of the raft folder is damaged, and what to do.
func damaged(file string, cause any) error {
	return fmt.Errorf("%w: %s: %v. %s", ErrDamaged, file, cause, rebuildAdvice(filepath.Dir(filepath.Dir(file))))
}

// rebuildAdvice is what to do about a member whose log is damaged or lost.
func rebuildAdvice(dir string) string {
	return fmt.Sprintf("In a cluster of several, `gram cluster rebuild ADDRESS --data %s` makes this a new member, "+
		"which gets everything from the others; "+
		"alone, restore the raft folder from a copy, or begin anew with a backup (`gram cluster restore`)", dir)
}

// readBolt reads every page of the file. The read-only opening is for the lock: what a process writes meanwhile would
// look like damage. bbolt may panic on a damaged file, and one that is cut off is a memory fault.
func readBolt(file string) (found *logstore.File, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return &logstore.File{}, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", logstore.ErrDamaged, cause)
		}
	}()
	options := boltOptions()
	options.ReadOnly = true
	db, err := bbolt.Open(file, 0o600, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	pages, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer pages.Close()
	if info, err = pages.Stat(); err != nil {
		return nil, err
	}
	return logstore.Pages(pages, info.Size())
}
