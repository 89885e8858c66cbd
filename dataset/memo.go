package dataset

import "sync"

// Memo is where a phase keeps what it made of the records of a block for later passes over them, such as the terms of
// texts as numbers. No result may depend on what is found there. The zero Memo keeps nothing.
type Memo struct {
	kept  *keptMemo
	first int  // the number of the block's first record among those of the memo
	part  bool // the block has some of them only
}

// Room is the memory for memos.
type Room interface {
	// Reserve reports whether there is room for some more bytes, and takes it.
	Reserve(bytes int64) bool
	Release(bytes int64)
}

type keptMemo struct {
	room  Room
	mu    sync.Mutex
	value any
}

// NewMemo returns an empty memo of a whole block, bounded by room.
func NewMemo(room Room) Memo { return Memo{kept: &keptMemo{room: room}} }

// of returns the memo for a part of the block, which begins with some record of it.
func (m Memo) of(first int, part bool) Memo {
	return Memo{kept: m.kept, first: m.first + first, part: m.part || part}
}

// Value returns what was kept, nil if that is nothing, and which of its records is the block's first.
func (m Memo) Value() (value any, first int) {
	if m.kept == nil {
		return nil, 0
	}
	m.kept.mu.Lock()
	defer m.kept.mu.Unlock()
	return m.kept.value, m.first
}

// Reserve reports whether something of a size may be kept for the block, and takes the memory for it: Keep or Release
// follow. It may not if something is kept already, or if the block is only a part of what the memo is for.
func (m Memo) Reserve(bytes int64) bool {
	if m.kept == nil || m.part {
		return false
	}
	if value, _ := m.Value(); value != nil {
		return false
	}
	return m.kept.room.Reserve(bytes)
}

// Release gives back what was reserved and not kept.
func (m Memo) Release(bytes int64) { m.kept.room.Release(bytes) }

// Keep keeps a value, which nobody may change from now on, in reserved memory; the first one stays.
func (m Memo) Keep(value any, bytes int64) {
	m.kept.mu.Lock()
	defer m.kept.mu.Unlock()
	if m.kept.value != nil {
		m.kept.room.Release(bytes)
		return
	}
	m.kept.value = value
}
