package worker

import "github.com/gram-compute/gram/jobs"

// memoKey is a leaf of a phase.
type memoKey struct {
	phase      string
	tree, leaf int
}

// memo is what a phase kept of a leaf.
type memo struct {
	value any
	bytes int64
}

// leafMemo is a jobs.Memo in the room of the block cache, beside the blocks of the job's input: it goes with them.
type leafMemo struct {
	cache *blockCache
	set   setKey
	key   memoKey
}

// memo returns where a leaf of a phase is remembered; nil where nothing is kept.
func (c *blockCache) memo(job, phase string, tree, leaf int) jobs.Memo {
	if c == nil || c.budget <= 0 {
		return nil
	}
	return leafMemo{c, setKey{job, jobs.Input}, memoKey{phase, tree, leaf}}
}

// Take takes the value out, so that no two tasks have the same.
func (m leafMemo) Take() any {
	c := m.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forget(m.set, m.key).value
}

// forget removes a memo and gives its room back. The caller holds the lock.
func (c *blockCache) forget(set setKey, key memoKey) memo {
	s := c.sets[set]
	if s == nil {
		return memo{}
	}
	was := s.memos[key]
	delete(s.memos, key)
	c.used -= was.bytes
	return was
}

// Keep keeps the value if there is room, in place of what another task kept of the leaf.
func (m leafMemo) Keep(value any, bytes int64) {
	m.Take()
	c := m.cache
	if bytes < 0 || !c.reserve(m.set, bytes) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[m.set]
	if s == nil { // the job was dropped
		c.used -= bytes
		return
	}
	c.forget(m.set, m.key)
	s.memos[m.key] = memo{value, bytes}
}
