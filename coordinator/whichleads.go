package coordinator

import (
	"context"

	"github.com/hashicorp/raft"
)

// WhoLeads tells whether this member leads, else where the leader is ("": unknown), and a
// channel that is closed when that has changed.
func (c *Coordinator) WhoLeads() (leads bool, address string, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead != nil {
		return true, "", c.news
	}
	at, id := c.member.Raft.LeaderWithID()
	if id == raft.ServerID(c.cfg.NodeID) {
		at = "" // elected, but not up to date yet
	}
	return false, string(at), c.news
}

// tell wakes who waits for a leader. The caller holds c.mu.
func (c *Coordinator) tell() {
	close(c.news)
	c.news = make(chan struct{})
}

// watchLeader tells of the leaders that raft hears of.
func (c *Coordinator) watchLeader(ctx context.Context) {
	heard := make(chan raft.Observation, 1)
	observer := raft.NewObserver(heard, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	c.member.Raft.RegisterObserver(observer)
	defer c.member.Raft.DeregisterObserver(observer)
	for {
		select {
		case <-heard:
			c.mu.Lock()
			c.tell()
			c.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}
