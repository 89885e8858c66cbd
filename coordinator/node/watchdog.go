package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gram-compute/gram/coordinator/logstore"
	"github.com/hashicorp/raft"
)

// DurableStore is what raft keeps on disk besides snapshots.
type DurableStore interface {
	raft.LogStore
	raft.StableStore
}

// watchdog reports a log store that fails or hangs. hashicorp/raft never re-elects
// while a leader's disk hangs, and a hung write may still land later; so the only
// safe answer is to end the process, which is what fail must lead to.
type watchdog struct {
	DurableStore
	dir   string
	limit time.Duration
	fail  func(error)
	meter *logMeter // hears of what was written; may be nil
	// later is time.AfterFunc, but for tests.
	later func(time.Duration, func()) *time.Timer
}

// looks is how often a write is looked at until it has taken too long. A process that is paused
// in the middle of one (a machine that is moved, SIGSTOP) knows nothing of the disk
// meanwhile: its pause counts as one look.
const looks = 10

func (w *watchdog) watch(op string, run func() error) error {
	ended := w.await(func() {
		w.fail(fmt.Errorf("raft log in %s: %s takes longer than %v: the disk hangs; this process must end, "+
			"so that another can lead, and may start again when the disk is well", w.dir, op, w.limit))
	})
	defer ended()
	err := run()
	if err != nil {
		w.fail(fmt.Errorf("raft log in %s: %s: %w", w.dir, op, DiskError(err)))
	}
	return err
}

// await calls hung after that number of looks, unless the function it returns was called before.
func (w *watchdog) await(hung func()) (ended func()) {
	later := w.later
	if later == nil {
		later = time.AfterFunc
	}
	var mu sync.Mutex
	var timer *time.Timer
	left := looks
	var look func()
	look = func() {
		mu.Lock()
		defer mu.Unlock()
		switch left--; {
		case left > 0:
			timer = later(w.limit/looks, look)
		case left == 0:
			hung()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	timer = later(w.limit/looks, look)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		left = 0 // a look under way sees nothing
		timer.Stop()
	}
}

// DiskError adds to an error of the disk what to do about it.
func DiskError(err error) error {
	advice := "see to the disk, then start the coordinator again"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free space on the disk, then start the coordinator again; nothing that was acknowledged is lost"
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "make the data directory writable for this user, then start the coordinator again"
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// StoreLog implements raft.LogStore.
func (w *watchdog) StoreLog(log *raft.Log) error { return w.StoreLogs([]*raft.Log{log}) }

// StoreLogs implements raft.LogStore.
func (w *watchdog) StoreLogs(logs []*raft.Log) error {
	err := w.watch("append", func() error { return w.DurableStore.StoreLogs(logs) })
	if err == nil && w.meter != nil {
		w.meter.add(logs, true)
	}
	return err
}

// GetLog implements raft.LogStore. All entries were checked at the start; one that is damaged since must not be
// believed, and raft's answer to an error here would be a panic. So the process is told to end, and the goroutine that
// asked does.
func (w *watchdog) GetLog(index uint64, entry *raft.Log) error {
	err := w.DurableStore.GetLog(index, entry)
	if err == nil || !errors.Is(err, logstore.ErrDamaged) {
		return err
	}
	w.fail(damaged(filepath.Join(w.dir, LogFile), err))
	runtime.Goexit()
	return err
}

// DeleteRange implements raft.LogStore.
func (w *watchdog) DeleteRange(first, last uint64) error {
	return w.watch("truncate", func() error { return w.DurableStore.DeleteRange(first, last) })
}

// Set implements raft.StableStore.
func (w *watchdog) Set(key, value []byte) error {
	return w.watch("save vote", func() error { return w.DurableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore.
func (w *watchdog) SetUint64(key []byte, value uint64) error {
	return w.watch("save term", func() error { return w.DurableStore.SetUint64(key, value) })
}
