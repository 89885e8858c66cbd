package node

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

func TestLogMeter(t *testing.T) {
	m := newLogMeter(1000)
	add := func(index uint64, size int) {
		m.add([]*raft.Log{{Index: index, Data: make([]byte, size-entryOverhead)}}, true)
	}
	due := func() bool {
		select {
		case <-m.due:
			return true
		default:
			return false
		}
	}
	for i := uint64(1); i <= 10; i++ {
		add(i, 100)
	}
	if due() {
		t.Error("due at the limit")
	}
	if add(11, 100); !due() || due() {
		t.Error("not due, once, beyond the limit")
	}
	m.cut(3000) // a large state may be written less often
	for i := uint64(12); i <= 41; i++ {
		add(i, 100)
	}
	if due() {
		t.Error("due before the log has grown by the size of a snapshot")
	}
	if add(42, 100); !due() {
		t.Error("not due")
	}
	if n := m.trailing(); n != trailingLeast {
		t.Errorf("%d entries trail, want the least", n)
	}
	for i := uint64(43); i <= 20000; i++ {
		add(i, entryOverhead)
	}
	if m.cut(100 * entryOverhead); m.trailing() != 100 {
		t.Errorf("%d entries trail, want as many as have room", m.trailing())
	}
	if m.cut(1 << 30); m.trailing() != trailingMost {
		t.Errorf("%d entries trail, want the most", m.trailing())
	}
}

// filled is a bolt file of which most is free.
func filled(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.db")
	db, err := bbolt.Open(file, 0o600, boltOptions())
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("logs")
	for round := range 2 { // write, then remove most
		if err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(name)
			for i := 0; i < 256 && err == nil; i++ {
				if round == 0 {
					err = bucket.Put([]byte{7: byte(i)}, bytes.Repeat([]byte{byte(i)}, 16<<10))
				} else if i >= 4 {
					err = bucket.Delete([]byte{7: byte(i)})
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file that is mostly free is made small; one that is not, or is small, stays; what a crash left is removed.
func TestCompaction(t *testing.T) {
	file := filled(t)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	found, err := readBolt(file)
	if err != nil {
		t.Fatal(err)
	}
	used := found.Used
	if used > 128<<10 || used < 4*16<<10 {
		t.Fatalf("%d bytes in use, %v", used, err)
	}
	for name, c := range map[string]struct{ used, from int64 }{"small": {used, before.Size() + 1},
		"in use": {before.Size()/2 + 1, 0}} {
		if err := compactBolt(file, c.used, c.from); err != nil || !isFile(file, before) {
			t.Errorf("%s: replaced, or %v", name, err)
		}
	}
	if err := os.WriteFile(copyName(file), []byte("half a copy"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(removeCopy(file), removeCopy(file), compactBolt(file, used, 0)); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(file)
	if err != nil || after.Size() > before.Size()/4 || os.SameFile(before, after) {
		t.Errorf("%d bytes became %d, %v", before.Size(), after.Size(), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	db, err := bbolt.Open(file, 0o600, boltOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bbolt.Tx) error {
		for i := range 4 {
			if got := tx.Bucket([]byte("logs")).Get([]byte{7: byte(i)}); len(got) != 16<<10 || got[0] != byte(i) {
				t.Errorf("entry %d has %d bytes", i, len(got))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A process that waits for the lock while another compacts the log does not take the old file for the log.
func TestTheLockIsOnTheFileOfThatName(t *testing.T) {
	file := filled(t)
	holder, err := bbolt.Open(file, 0o600, boltOptions())
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		store, err := openStore(file)
		if err == nil {
			err = store.Close()
		}
		opened <- err
	}()
	other := filled(t)
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	// It opened the old file, and says so, or came late and has the new one.
	if err := <-opened; err != nil && !errors.Is(err, errReplaced) {
		t.Error(err)
	}
}

// A member that lagged was sent a snapshot: its log lacks the entries that the snapshot stood for.
func TestLogMeterReadsALogWithAGap(t *testing.T) {
	log := raft.NewInmemStore()
	for _, index := range []uint64{1, 2, 3, 10, 11} {
		if err := log.StoreLog(&raft.Log{Index: index, Data: make([]byte, 100-entryOverhead)}); err != nil {
			t.Fatal(err)
		}
	}
	m := newLogMeter(1000)
	if err := m.read(Stores{Log: log, Snapshots: raft.NewInmemSnapshotStore()}); err != nil {
		t.Fatal(err)
	}
	if m.last != 11 || m.since != 500 {
		t.Errorf("the last entry is %d, and %d bytes are new; want 11 and 500", m.last, m.since)
	}
}
