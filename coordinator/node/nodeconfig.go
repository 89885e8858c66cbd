// Package node is one raft member: its log on disk, its snapshots, the port to the other members, and the state
// that the log makes.
package node

import (
	"log/slog"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
)

// Config says how to run a member.
type Config struct {
	DataDir  string // raft log, snapshots and certificates; "" keeps all in memory
	NodeID   string // stable name of this member; "" means the one the data directory holds, or a new one
	Joins    bool   // the member is told to join others
	RaftAddr string // host:port between coordinators
	// AdvertiseAddr is where the other members reach RaftAddr; "" means at RaftAddr itself.
	AdvertiseAddr string
	DiskLimit     time.Duration // longest a log write may take
	// SnapshotEntries is after how many entries of the log the state is written down, and how many
	// are kept behind it for members that lag; 0 means raft's 8,192 and 10,240.
	SnapshotEntries uint64
	// SnapshotBytes of the log make a snapshot due; 0 means the default.
	SnapshotBytes int64
	// RaftTimeout is what raft waits for before it holds an election; 0 means its defaults, about a second.
	RaftTimeout time.Duration
	Limits      bounds.Limits
	Logger      *slog.Logger
	// WrapLog puts a faulty disk under the log in tests.
	WrapLog func(DurableStore) DurableStore
}
