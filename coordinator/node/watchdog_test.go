package node

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// slowStore takes its time over each write, then fails with err.
type slowStore struct {
	DurableStore
	takes time.Duration
	err   error
}

func (s slowStore) write() error {
	<-time.After(s.takes)
	return s.err
}

func (s slowStore) StoreLogs([]*raft.Log) error          { return s.write() }
func (s slowStore) DeleteRange(uint64, uint64) error     { return s.write() }
func (s slowStore) Set(key, value []byte) error          { return s.write() }
func (s slowStore) SetUint64(key []byte, _ uint64) error { return s.write() }

func TestWatchdog(t *testing.T) {
	const limit = 5 * time.Second
	writes := map[string]func(DurableStore) error{
		"append":    func(s DurableStore) error { return s.StoreLogs([]*raft.Log{{}}) },
		"one entry": func(s DurableStore) error { return s.StoreLog(&raft.Log{}) },
		"truncate":  func(s DurableStore) error { return s.DeleteRange(1, 2) },
		"vote":      func(s DurableStore) error { return s.Set([]byte("k"), nil) },
		"term":      func(s DurableStore) error { return s.SetUint64([]byte("k"), 1) },
	}
	disks := map[string]struct {
		store slowStore
		says  string // in the failure; "" means that there must be none
		after time.Duration
	}{
		"well":  {slowStore{takes: limit - 1}, "", 0},
		"hangs": {slowStore{takes: time.Hour}, "takes longer than 5s: the disk hangs", limit},
		"fails": {slowStore{takes: time.Second, err: errors.New("bad block")}, "bad block: see to the disk",
			time.Second},
		"is full": {slowStore{err: &fs.PathError{Op: "write", Path: "log.db", Err: syscall.ENOSPC}},
			"free space on the disk", 0},
		"is readonly": {slowStore{err: syscall.EROFS}, "make the data directory writable", 0},
	}
	for op, write := range writes {
		for name, disk := range disks {
			t.Run(op+" on a disk that "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					var failure error
					var after time.Duration
					w := &watchdog{DurableStore: disk.store, dir: "data/raft", limit: limit, fail: func(err error) {
						failure, after = err, time.Since(began)
					}}
					err := write(w)
					synctest.Wait()
					if !errors.Is(err, disk.store.err) {
						t.Errorf("returned %v, want %v", err, disk.store.err)
					}
					switch {
					case disk.says == "" && failure != nil:
						t.Errorf("failed a good disk: %v", failure)
					case disk.says == "":
					case failure == nil || !strings.Contains(failure.Error(), disk.says) ||
						!strings.Contains(failure.Error(), "data/raft"):
						t.Errorf("failure %v does not say %q and where", failure, disk.says)
					case after != disk.after:
						t.Errorf("failed after %v, want %v", after, disk.after)
					}
				})
			})
		}
	}
}

// TestAPauseIsNoHang: a process that is paused in the middle of a write, for however long, and then
// finds the write done, has no bad disk.
func TestAPauseIsNoHang(t *testing.T) {
	var timers []func()
	failed := 0
	w := &watchdog{limit: 5 * time.Second, fail: func(error) { failed++ },
		later: func(_ time.Duration, look func()) *time.Timer {
			timers = append(timers, look)
			return time.NewTimer(time.Hour)
		}}
	look := func(n int) {
		for range n {
			timers[len(timers)-1]()
		}
	}
	if err := w.watch("append", func() error { look(looks - 1); return nil }); err != nil || failed != 0 {
		t.Errorf("%v, %d failures after %d looks; want none", err, failed, looks-1)
	}
	if look(1); failed != 0 {
		t.Error("a write that is done was looked at, and failed")
	}
	if err := w.watch("append", func() error { look(looks); return nil }); err != nil || failed != 1 {
		t.Errorf("%v, %d failures after %d looks; want 1", err, failed, looks)
	}
}
