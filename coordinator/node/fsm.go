package node

import (
	"fmt"
	"io"
	"sync"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/hashicorp/raft"
)

// FSM is the adapter between raft and state.Apply: it decides nothing.
type FSM struct {
	mu      sync.Mutex
	state   state.State
	index   uint64            // the state is that after this entry
	changed chan struct{}     // closed when state changes, then replaced
	checks  chan checkpointed // the last checkpoint, until somebody hashes it
	retoken chan struct{}     // closed when the tokens change, then replaced
	// persisted hears of every snapshot that was written, with its size; nil: nobody does.
	persisted func(bytes int64)
}

// NewFSM returns one with the empty state.
func NewFSM() *FSM {
	return &FSM{
		state: state.New(), changed: make(chan struct{}), retoken: make(chan struct{}),
		checks: make(chan checkpointed, 1),
	}
}

// TokensChanged returns a channel that is closed when the tokens have changed.
func (f *FSM) TokensChanged() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.retoken
}

// View returns the state and a channel that is closed when it has changed.
func (f *FSM) View() (state.State, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.changed
}

// AppliedIndex is the entry up to which the log is applied.
func (f *FSM) AppliedIndex() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.index
}

// At returns the state and the index it is of.
func (f *FSM) At() (state.State, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.index
}

// Reached notes that every entry up to index is applied; not all of them are commands.
func (f *FSM) Reached(index uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index = max(f.index, index)
}

// Apply implements raft.FSM. Its answer is a state.Reply.
func (f *FSM) Apply(entry *raft.Log) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, reply := state.ApplyBytes(f.state, entry.Data)
	f.set(next, entry.Index)
	if reply.Checkpoint {
		f.checkpoint(checkpointed{index: entry.Index, state: next})
	}
	return reply
}

func (f *FSM) set(next state.State, index uint64) {
	if !next.Tokens.Same(f.state.Tokens) {
		close(f.retoken)
		f.retoken = make(chan struct{})
	}
	f.state, f.index = next, index
	close(f.changed)
	f.changed = make(chan struct{})
}

// Snapshot implements raft.FSM: states are immutable, so capturing one is free.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	s, _ := f.View()
	return snapshot{s, f.persisted}, nil
}

// Restore implements raft.FSM: the new state is swapped in only when all of it was read.
func (f *FSM) Restore(r io.ReadCloser) error {
	defer r.Close()
	restored, err := state.Decode(r)
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(restored, f.index)
	return nil
}

type snapshot struct {
	state     state.State
	persisted func(bytes int64)
}

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	counted := &countingWriter{to: sink}
	if err := s.state.Encode(counted); err != nil {
		return fmt.Errorf("write snapshot: %w", joinCancel(err, sink))
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if s.persisted != nil {
		s.persisted(counted.bytes)
	}
	return nil
}

type countingWriter struct {
	to    io.Writer
	bytes int64
}

// Write implements io.Writer.
func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.bytes += int64(n)
	return n, err
}

func joinCancel(err error, sink raft.SnapshotSink) error {
	if cancelErr := sink.Cancel(); cancelErr != nil {
		return fmt.Errorf("%w (and cancelling it: %w)", err, cancelErr)
	}
	return err
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}

// Begin writes a state as the snapshot that the log of a cluster of one begins after.
func (m *Member) Begin(nodeID string, stores Stores, first state.State) error {
	alone := raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(nodeID), Address: m.transport.LocalAddr()}}}
	sink, err := stores.Snapshots.Create(raft.SnapshotVersionMax, 1, 1, alone, 1, m.transport)
	if err == nil {
		err = (snapshot{state: first}).Persist(sink)
	}
	if err != nil {
		return DiskError(err)
	}
	return nil
}
