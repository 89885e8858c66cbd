package lead

import (
	"sync"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// peer is what a member answered last.
type peer struct {
	healthy bool
	since   time.Duration // healthy without a break since then
	applied uint64
	version string
	lowDisk bool
	clock   *pb.ClockStatus // nil: not told
}

// peerTable is the leader's memory of the other members.
type peerTable struct {
	mu    sync.Mutex
	peers map[raft.ServerID]peer
}

func (t *peerTable) get(id raft.ServerID) peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.peers[id]
}

// note takes an answer into account; nil means that the member did not answer.
func (t *peerTable) note(id raft.ServerID, answer *pb.HealthResponse, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.peers == nil {
		t.peers = make(map[raft.ServerID]peer)
	}
	p := t.peers[id]
	// Who answers by another name has taken over an address.
	healthy := answer != nil && answer.GetId() == string(id)
	if healthy {
		if !p.healthy {
			p.since = now
		}
		p.applied, p.version, p.lowDisk = answer.GetAppliedIndex(), answer.GetVersion(), answer.GetLowDisk()
		p.clock = clockOf(answer)
	}
	p.healthy = healthy
	t.peers[id] = p
}

// silent reports whether other members were asked, and none that answers has told its time. Those of an
// earlier release answer without one.
func (l *Leadership) silent() bool {
	l.peers.mu.Lock()
	defer l.peers.mu.Unlock()
	for _, p := range l.peers.peers { // in any order
		if p.healthy && p.clock == nil {
			return false
		}
	}
	return len(l.peers.peers) > 0
}
