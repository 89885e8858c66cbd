package lead

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/hashicorp/raft"
)

// diskPoll is how often the free space is looked at.
const diskPoll = 2 * time.Second

// DiskWatch acts when the data directory's disk is low.
type DiskWatch struct{ *Leader }

// watchDisk looks at the free space of the data directory until ctx ends.
func (c DiskWatch) watchDisk(ctx context.Context) {
	if c.cfg.DataDir == "" {
		return
	}
	ticker := time.NewTicker(diskPoll)
	defer ticker.Stop()
	for {
		c.LookAtDisk(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// LookAtDisk acts by the free space as it is now.
func (c DiskWatch) LookAtDisk(ctx context.Context) {
	s, err := c.cfg.DiskSpace(c.cfg.DataDir)
	if err != nil {
		c.cfg.Logger.Warn("free space not known", "error", err)
		return
	}
	if s.Full() {
		c.cfg.Fail(fmt.Errorf("%w (%s): %s; nothing that was acknowledged is lost: free space, then start the "+
			"coordinator again", node.ErrDiskFull, c.cfg.DataDir, s))
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
func (c *Leader) leadElsewhere(ctx context.Context, why string, fit func(peer) bool) {
	lead, err := c.Leadership()
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
		if err := c.log.Await(ctx, c.member.Raft.LeadershipTransferToServer(s.ID, s.Address)); err != nil {
			c.cfg.Logger.Warn("the lead was not handed over; trying again", "why", why, "to", string(s.ID), "error",
				err)
			continue
		}
		c.cfg.Logger.Warn("handed the lead over", "why", why, "to", string(s.ID))
		return
	}
}
