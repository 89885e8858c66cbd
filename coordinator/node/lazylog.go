package node

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// lazyLogDelay is long enough for two members to be killed before they have written.
const lazyLogDelay = 2 * time.Second

// lazyLog is the seeded bug SkippedFsync: entries are acknowledged at once and written later, so
// that a kill, which leaves the page cache alone, loses them as a power cut loses what was not synced.
type lazyLog struct {
	DurableStore
	mu        sync.Mutex
	unwritten []*raft.Log
	due       *time.Timer // nil while nothing is unwritten
}

// StoreLog implements raft.LogStore.
func (l *lazyLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (l *lazyLog) StoreLogs(entries []*raft.Log) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwritten = append(l.unwritten, entries...)
	if l.due == nil {
		l.due = time.AfterFunc(lazyLogDelay, func() { _ = l.Close() }) // whoever waits for it was told long ago
	}
	return nil
}

// FirstIndex implements raft.LogStore.
func (l *lazyLog) FirstIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, err := l.DurableStore.FirstIndex()
	if first == 0 && len(l.unwritten) > 0 {
		first = l.unwritten[0].Index
	}
	return first, err
}

// LastIndex implements raft.LogStore.
func (l *lazyLog) LastIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.unwritten); n > 0 {
		return l.unwritten[n-1].Index, nil
	}
	return l.DurableStore.LastIndex()
}

// GetLog implements raft.LogStore.
func (l *lazyLog) GetLog(index uint64, entry *raft.Log) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.unwritten, func(e *raft.Log) bool { return e.Index == index }); i >= 0 {
		*entry = *l.unwritten[i]
		return nil
	}
	return l.DurableStore.GetLog(index, entry)
}

// DeleteRange implements raft.LogStore.
func (l *lazyLog) DeleteRange(first, last uint64) error {
	if err := l.Close(); err != nil {
		return err
	}
	return l.DurableStore.DeleteRange(first, last)
}

// Close writes what is unwritten.
func (l *lazyLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due == nil {
		return nil
	}
	l.due.Stop()
	entries := l.unwritten
	l.due, l.unwritten = nil, nil
	return l.DurableStore.StoreLogs(entries)
}
