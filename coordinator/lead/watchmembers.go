package lead

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

const (
	// probeInterval is how often the leader asks the other members how they are.
	probeInterval = time.Second
	// promoteBehind is how many entries a member may lack when it gets its vote.
	promoteBehind = 250
	// removedAfter is how long a member may be missing in its own log, without a leader,
	// before it takes itself for removed: what names it not may yet be overruled.
	removedAfter = 5 * time.Second
)

// watchMembers asks the others how they are, and gives a vote to who has earned it.
func (c *Members) watchMembers(lead *Leadership) {
	if c.member.Port == nil {
		return // nobody can be asked
	}
	ticker := time.NewTicker(min(probeInterval, c.cfg.PromoteAfter))
	defer ticker.Stop()
	for {
		if err := c.correctAddress(lead); err != nil && lead.Ctx.Err() == nil {
			c.cfg.Logger.Warn("this member's new address is not in the log yet; trying again", "error", err)
		}
		select {
		case <-ticker.C:
		case <-lead.Ctx.Done():
			return
		}
		servers, _, err := c.member.Servers()
		if err != nil || len(servers) == 1 && servers[0].ID == raft.ServerID(c.cfg.NodeID) {
			continue
		}
		c.probe(lead, servers)
		c.checkpoints(lead, servers)
		if err := c.promote(lead); err != nil && lead.Ctx.Err() == nil {
			c.cfg.Logger.Warn("member not given its vote yet; trying again", "error", err)
		}
	}
}

// correctAddress puts the leader's own address into the log when it was started at another.
func (c *Members) correctAddress(lead *Leadership) error {
	if c.member.Port == nil {
		return nil
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	servers, index, err := c.member.Servers()
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.ID == raft.ServerID(c.cfg.NodeID) && s.Address != c.member.Address {
			return c.log.Await(lead.Ctx, c.member.Raft.AddVoter(s.ID, c.member.Address, index, c.cfg.ApplyTimeout))
		}
	}
	return nil
}

func (c *Members) probe(lead *Leadership, servers []raft.Server) {
	var asked sync.WaitGroup
	for _, s := range servers {
		if s.ID == raft.ServerID(c.cfg.NodeID) {
			continue
		}
		asked.Go(func() { c.probeMember(lead, s) })
	}
	asked.Wait()
}

// probeMember asks one member how it is, and for its time.
func (c *Members) probeMember(lead *Leadership, s raft.Server) {
	var answer *pb.HealthResponse
	c.clock.askTime(string(s.ID), func() (at time.Time, err error) {
		answer, err = c.peers.Health(lead.Ctx, string(s.Address), lead.table.agreement(), c.clock.agreedTime())
		if err != nil {
			c.cfg.Logger.Debug("member does not answer", "member", string(s.ID), "error", err)
		} else if ms := answer.GetClockUnixMs(); ms != 0 && answer.GetId() == string(s.ID) {
			at = time.UnixMilli(ms)
		}
		return at, err
	})
	lead.peers.note(s.ID, answer, c.clock.Mono())
	if answer.GetId() == string(s.ID) {
		lead.table.note(s.ID, node.Checkpoint{Index: answer.GetCheckpointIndex(), Digest: answer.GetCheckpointSha256()})
	}
}

// promote gives the first member that is healthy for long enough, and close enough to
// the log's end, its vote. One change at a time is what raft is safe with.
func (c *Members) promote(lead *Leadership) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	servers, index, err := c.member.Servers()
	if err != nil {
		return err
	}
	for _, s := range servers {
		p := lead.peers.get(s.ID)
		if s.Suffrage == raft.Voter || !p.healthy || c.clock.Mono()-p.since < c.cfg.PromoteAfter ||
			p.applied+promoteBehind < c.member.Raft.AppliedIndex() {
			continue
		}
		if err := c.log.Await(lead.Ctx, c.member.Raft.AddVoter(s.ID, s.Address, index,
			c.cfg.ApplyTimeout)); err != nil {
			return fmt.Errorf("promote %s: %w", s.ID, err)
		}
		c.cfg.Logger.Info("member has a vote now", "member", string(s.ID), "address", string(s.Address))
		return nil
	}
	return nil
}

// watchOwnMembership ends this process once it is no member any more: once its log says so, or the leader does, who no
// longer sends it any.
func (c *Members) watchOwnMembership(ctx context.Context) {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	var alone time.Duration // since when without a leader; 0 means it is not
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		servers, _, err := c.member.Servers()
		if _, leader := c.member.Raft.LeaderWithID(); err != nil || len(servers) == 0 || leader != "" {
			alone = 0
			continue
		}
		if alone == 0 {
			alone = c.clock.Mono()
		}
		if c.clock.Mono()-alone <= removedAfter {
			continue
		}
		if !isMember(servers, raft.ServerID(c.cfg.NodeID)) {
			c.cfg.Fail(fmt.Errorf("%w: the log names no member %s", node.ErrRemoved, c.cfg.NodeID))
			return
		}
		if c.knownRemoved(ctx, servers) {
			c.cfg.Fail(fmt.Errorf("%w: its leader names no member %s", node.ErrRemoved, c.cfg.NodeID))
			return
		}
	}
}
