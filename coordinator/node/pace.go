package node

import (
	"time"

	"github.com/hashicorp/raft"
)

// How often an idle leader calls its followers. With raft's own defaults that is forty times a second for two of them,
// and most of what an idle cluster takes of a processor. When a follower holds an election does not depend on it: it
// waits for raft's default of a second, as before.
const (
	// tellCommits is after how long without a new entry a leader tells its followers which entries are committed, or
	// up to twice that. A follower knows a new token so much later.
	tellCommits = 250 * time.Millisecond
	// leaderBeat is ten times the interval of a leader's heartbeats, or five times.
	leaderBeat = 1500 * time.Millisecond
	// leaderLease is how long a leader leads without a word from most others: several heartbeats, and less than a
	// follower waits before it holds an election.
	leaderLease = 750 * time.Millisecond
)

// Pace sets how often this member sends heartbeats, should it lead, and how long it waits for those of a leader. raft
// has one number for both.
func (m *Member) Pace(leads bool) error {
	if !m.paced {
		return nil
	}
	config := m.Raft.ReloadableConfig()
	config.HeartbeatTimeout = raft.DefaultConfig().HeartbeatTimeout
	if leads {
		config.HeartbeatTimeout = leaderBeat
	}
	config.ElectionTimeout = config.HeartbeatTimeout // raft wants it no shorter; a leader holds no election
	return m.Raft.ReloadConfig(config)
}
