package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// slowStore takes its time over each write, then fails with err.
type slowStore struct {
	durableStore
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
	writes := map[string]func(durableStore) error{
		"append":    func(s durableStore) error { return s.StoreLogs([]*raft.Log{{}}) },
		"one entry": func(s durableStore) error { return s.StoreLog(&raft.Log{}) },
		"truncate":  func(s durableStore) error { return s.DeleteRange(1, 2) },
		"vote":      func(s durableStore) error { return s.Set([]byte("k"), nil) },
		"term":      func(s durableStore) error { return s.SetUint64([]byte("k"), 1) },
	}
	disks := map[string]struct {
		store slowStore
		says  string // in the failure; "" means that there must be none
		after time.Duration
	}{
		"well":        {slowStore{takes: limit - 1}, "", 0},
		"hangs":       {slowStore{takes: time.Hour}, "takes longer than 5s: the disk hangs", limit},
		"fails":       {slowStore{takes: time.Second, err: errors.New("bad block")}, "bad block: see to the disk", time.Second},
		"is full":     {slowStore{err: &fs.PathError{Op: "write", Path: "log.db", Err: syscall.ENOSPC}}, "free space on the disk", 0},
		"is readonly": {slowStore{err: syscall.EROFS}, "make the data directory writable", 0},
	}
	for op, write := range writes {
		for name, disk := range disks {
			t.Run(op+" on a disk that "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					var failure error
					var after time.Duration
					w := &watchdog{durableStore: disk.store, dir: "data/raft", limit: limit, fail: func(err error) {
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
					case failure == nil || !strings.Contains(failure.Error(), disk.says) || !strings.Contains(failure.Error(), "data/raft"):
						t.Errorf("failure %v does not say %q and where", failure, disk.says)
					case after != disk.after:
						t.Errorf("failed after %v, want %v", after, disk.after)
					}
				})
			})
		}
	}
}

func TestFullDiskFailsTheProcess(t *testing.T) {
	t.Parallel()
	d := &disk{}
	c := startTest(t, d.under(testConfig(t.TempDir())))
	d.breakWith(syscall.ENOSPC)
	_, err := c.propose(t.Context(), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	if err == nil {
		t.Error("a command was committed on a full disk")
	}
	select {
	case err := <-c.Failed():
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
			t.Errorf("failed with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a full disk went unnoticed")
	}
}

func TestHangingDiskFailsTheProcess(t *testing.T) {
	t.Parallel()
	d := &disk{}
	cfg := d.under(testConfig(t.TempDir()))
	cfg.DiskLimit = time.Second // also of the probe at the start, on a busy machine
	c := startTest(t, cfg)
	release := d.stall()
	defer release()
	proposed := make(chan struct{})
	go func() {
		defer close(proposed)
		c.propose(t.Context(), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	}()
	began := time.Now()
	select {
	case err := <-c.Failed():
		if took := time.Since(began); took < cfg.DiskLimit/2 || !strings.Contains(err.Error(), "the disk hangs") {
			t.Errorf("failed after %v: %v", took, err)
		}
	case <-time.After(cfg.DiskLimit + 9*time.Second):
		t.Fatal("a hanging disk went unnoticed")
	}
	// Nobody may have to wait for that disk.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shut down on a hanging disk: %v", err)
	}
	release()
	<-proposed // committed after all, or not: the caller was told late, never wrongly
	<-c.ended
}

// TestAPauseIsNoHang: a process that is paused in the middle of a write, for however long, and then
// finds the write done, has no bad disk.
func TestAPauseIsNoHang(t *testing.T) {
	var timers []func()
	failed := 0
	w := &watchdog{limit: 5 * time.Second, fail: func(error) { failed++ }, later: func(_ time.Duration, look func()) *time.Timer {
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
