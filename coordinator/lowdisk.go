package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// diskPoll is how often the free space is looked at.
const diskPoll = 2 * time.Second

// watchDisk looks at the free space of the data directory until ctx ends.
func (c *Coordinator) watchDisk(ctx context.Context) {
	if c.cfg.DataDir == "" {
		return
	}
	ticker := time.NewTicker(diskPoll)
	defer ticker.Stop()
	for {
		c.lookAtDisk(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c *Coordinator) lookAtDisk(ctx context.Context) {
	s, err := c.cfg.diskSpace(c.cfg.DataDir)
	if err != nil {
		c.cfg.Logger.Warn("free space not known", "error", err)
		return
	}
	if s.Full() {
		c.fail(fmt.Errorf("%w (%s): %s; nothing that was acknowledged is lost: free space, then start the coordinator again", node.ErrDiskFull, c.cfg.DataDir, s))
		return
	}
	if low := s.Low(); low != c.lowDisk.Swap(low) {
		c.cfg.Logger.Warn("free space for the log", "low", low, "space", s.String())
	}
	if c.lowDisk.Load() {
		c.leadElsewhere(ctx, "the disk is nearly full", func(p peer) bool { return !p.lowDisk })
	}
}

// leadElsewhere hands the lead to a member that is healthy and fit for it, if there is one.
func (c *Coordinator) leadElsewhere(ctx context.Context, why string, fit func(peer) bool) {
	lead, err := c.leader()
	if err != nil {
		return
	}
	servers, _, err := c.member.Servers()
	if err != nil {
		return // raft is ending
	}
	for _, s := range servers {
		p := lead.peers.get(s.ID)
		if s.ID == raft.ServerID(c.cfg.NodeID) || s.Suffrage != raft.Voter || !p.healthy || !fit(p) {
			continue
		}
		if err := c.await(ctx, c.member.Raft.LeadershipTransferToServer(s.ID, s.Address)); err != nil {
			c.cfg.Logger.Warn("the lead was not handed over; trying again", "why", why, "to", string(s.ID), "error", err)
			continue
		}
		c.cfg.Logger.Warn("handed the lead over", "why", why, "to", string(s.ID))
		return
	}
}

// roomFor refuses what makes a new job while the disk is nearly full; what was accepted before, and
// everything else, goes on.
func (c *Coordinator) roomFor(cmd *pb.Command) error {
	submit := cmd.GetSubmit()
	if submit == nil || !c.lowDisk.Load() {
		return nil
	}
	if view, _ := c.fsm.View(); view.ClusterID != "" {
		if _, known := view.Job(submit.GetId()); known {
			return nil
		}
	}
	return outcome.Refuse(state.Exhausted, "no new jobs: the coordinator's disk is nearly full; free space in its data directory, then submit again")
}
