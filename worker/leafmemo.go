package worker

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/worker/scratch"
)

// memoKey is a leaf of a phase.
type memoKey struct {
	phase      string
	tree, leaf int
}

// memo is what a phase kept of a leaf.
type memo struct {
	changes uint64 // as of the task that kept it
	value   any
	bytes   int64         // in memory
	file    *scratch.File // that has the value, nil if memory does
	empty   jobs.Spillable
}

// leafMemo is a jobs.Memo in the room of the block cache, beside the blocks of the job's input: it goes with them.
type leafMemo struct {
	cache *blockCache
	set   setKey
	key   memoKey

	// changes is the job's count of what was taken back. Rounds that begin anew may compute from another state, about
	// which nothing is known: what a task of another count kept is dropped.
	changes uint64
}

// memo returns where a leaf of a phase is remembered; nil where nothing is kept.
func (c *blockCache) memo(job, phase string, tree, leaf int, changes uint64) jobs.Memo {
	if c == nil || c.budget <= 0 {
		return nil
	}
	return leafMemo{c, setKey{job, jobs.Input}, memoKey{phase, tree, leaf}, changes}
}

// Take takes the value out, so that no two tasks have the same.
func (m leafMemo) Take() any {
	was := m.take()
	if was.changes != m.changes {
		m.cache.removeFile(was.file)
		return nil
	}
	if was.file == nil {
		return was.value
	}
	defer m.cache.removeFile(was.file)
	value, err := was.read()
	if err != nil {
		m.cache.logger.Warn("what was found out about a leaf cannot be read from the scratch directory; its records are "+
			"read again", "job", m.set.job, "phase", m.key.phase, "leaf", m.key.leaf, "error", err)
		return nil
	}
	return value
}

func (m leafMemo) take() memo {
	m.cache.mu.Lock()
	defer m.cache.mu.Unlock()
	return m.cache.forget(m.set, m.key)
}

// read returns the value of a file.
func (m memo) read() (any, error) {
	data, err := m.file.Read()
	if err != nil {
		return nil, err
	}
	arrays, err := jobs.Decode(data)
	if err != nil {
		return nil, err
	}
	return jobs.Read(arrays, m.empty)
}

// removeFile removes a file of a memo, if there is one.
func (c *blockCache) removeFile(file *scratch.File) {
	if file == nil {
		return
	}
	if err := file.Remove(); err != nil {
		c.logger.Warn("a file stays in the scratch directory until the worker ends", "error", err)
	}
}

// forget removes a memo and gives its room back; its file is the caller's. The caller holds the lock.
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
	c := m.cache
	c.removeFile(m.take().file)
	if bytes < 0 {
		return
	}
	kept := memo{value: value, bytes: bytes}
	if !c.reserve(m.set, bytes) {
		if kept = m.spill(value); kept.file == nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[m.set]
	if s == nil { // the job was dropped
		c.used -= kept.bytes
		c.removeFile(kept.file)
		return
	}
	c.removeFile(c.forget(m.set, m.key).file)
	kept.changes = m.changes
	s.memos[m.key] = kept
}

// spill writes a value to a file; the memo has none where that is not possible. Of failures that follow each other,
// the log has the first.
func (m leafMemo) spill(value any) memo {
	c := m.cache
	spillable, ok := value.(jobs.Spillable)
	if c.scratch == nil || !ok {
		return memo{}
	}
	file, err := c.scratch.Put(jobs.ArraysOf(spillable).Encode())
	c.mu.Lock()
	first := err != nil && !c.failing
	c.failing = err != nil
	c.mu.Unlock()
	if first {
		c.logger.Warn("what was found out about a leaf cannot be written to the scratch directory; its records are read "+
			"again", "job", m.set.job, "phase", m.key.phase, "leaf", m.key.leaf, "error", err)
	}
	if err != nil {
		return memo{}
	}
	return memo{file: file, empty: spillable.Empty()}
}

// removeFiles forgets what is in files, of all jobs: nobody waits for it.
func (c *blockCache) removeFiles() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sets { //lint:ordered each file is removed by itself
		for key, m := range s.memos { //lint:ordered as above
			if m.file != nil {
				c.removeFile(m.file)
				delete(s.memos, key)
			}
		}
	}
}
