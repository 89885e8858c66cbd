package node

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

const (
	// snapshotBytes is how much the log grows before it is cut, whatever number of entries that is: raft
	// counts entries, and 8,192 of 256 KiB are 2 GiB. Where the last snapshot was larger, the log may grow as much.
	snapshotBytes = 64 << 20
	// trailingMost entries stay behind a snapshot for members that are late, and no more than snapshotBytes of
	// them, but not fewer than trailingLeast.
	trailingMost  = 10240
	trailingLeast = 64
	entryOverhead = 64 // of an entry in the file, about
)

// logMeter knows how large the newest entries of the log are.
type logMeter struct {
	due chan struct{} // holds one element when a snapshot is due

	mu       sync.Mutex
	limit    int64
	sizes    [trailingMost]uint32 // of entry i at i % trailingMost
	last     uint64               // index of the newest entry
	since    int64                // bytes since the last snapshot
	snapshot int64                // size of the last snapshot
}

func newLogMeter(limit int64) *logMeter {
	if limit == 0 {
		limit = snapshotBytes
	}
	return &logMeter{due: make(chan struct{}, 1), limit: limit}
}

// read takes the entries that the log holds at the start. A member that was sent a snapshot has a gap
// before the entries that followed it.
func (m *logMeter) read(stores Stores) error {
	first, err := stores.Log.FirstIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	last, err := stores.Log.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	snapshots, err := stores.Snapshots.List()
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	covered := uint64(0)
	if len(snapshots) > 0 {
		covered, m.snapshot = snapshots[0].Index, snapshots[0].Size
	}
	if last >= trailingMost {
		first = max(first, last-trailingMost+1)
	}
	for i := first; i <= last && last > 0; i++ {
		var entry raft.Log
		err := stores.Log.GetLog(i, &entry)
		if errors.Is(err, raft.ErrLogNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read entry %d of the log: %w", i, err)
		}
		m.add([]*raft.Log{&entry}, entry.Index > covered)
	}
	return nil
}

// add notes entries that were written; fresh ones come after the last snapshot.
func (m *logMeter) add(entries []*raft.Log, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range entries {
		size := uint32(min(len(e.Data)+len(e.Extensions)+entryOverhead, 1<<31))
		m.sizes[e.Index%trailingMost], m.last = size, e.Index
		if fresh {
			m.since += int64(size)
		}
	}
	if m.since > max(m.limit, m.snapshot) {
		select {
		case m.due <- struct{}{}:
		default: // it is known
		}
	}
}

// cut notes a snapshot of the state, of any cause.
func (m *logMeter) cut(size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since, m.snapshot = 0, size
}

// trailing is how many of the newest entries may stay behind a snapshot.
func (m *logMeter) trailing() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	room := max(m.limit, m.snapshot)
	n := uint64(0)
	for ; n < trailingMost && n < m.last; n++ {
		if room -= int64(m.sizes[(m.last-n)%trailingMost]); room < 0 && n >= trailingLeast {
			break
		}
	}
	return max(n, trailingLeast)
}
