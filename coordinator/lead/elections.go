package lead

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// WhoLeads tells whether this member leads, else where the leader is ("": unknown), and a
// channel that is closed when that has changed.
func (c *Leader) WhoLeads() (leads bool, address string, news <-chan struct{}) {
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
func (c *Leader) tell() {
	close(c.news)
	c.news = make(chan struct{})
}

// watchLeader tells of the leaders that raft hears of.
func (c *Leader) watchLeader(ctx context.Context) {
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

// NoLeader says that the cluster stands still, and what would help.
func (c *Leader) NoLeader() error {
	servers, _, err := c.member.Servers()
	voters := 0
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	if err != nil || voters < 2 {
		return fmt.Errorf("%w, and it knows of none that answers", outcome.ErrNotLeader)
	}
	return fmt.Errorf("%w: member %s is up, but of the %d members with a vote %d must run and reach each other on "+
		"their raft ports",
		outcome.ErrNoLeader, c.cfg.NodeID, voters, voters/2+1)
}

// HandOver gives the lead to another member, if there is one to take it, so that nobody
// waits for an election.
func (c *Leader) HandOver(ctx context.Context) {
	if leads, _, _ := c.WhoLeads(); !leads {
		return
	}
	servers, _, err := c.member.Servers()
	if err != nil || len(servers) < 2 {
		return
	}
	if err := c.log.Await(ctx, c.member.Raft.LeadershipTransfer()); err != nil {
		c.cfg.Logger.Warn("the lead was not handed over; the others will elect", "error", err)
	}
}

// Leads reports whether this member leads and has taken up its duties.
func (c *Leader) Leads() bool {
	_, err := c.Leadership()
	return err == nil
}
