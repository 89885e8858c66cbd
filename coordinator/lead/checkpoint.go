package lead

import (
	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// heed ends this member if its state differs from the one on which most agree.
func (c *Members) heed(agreed node.Checkpoint) {
	if err := c.checks.Compare(agreed, c.cfg.DataDir); err != nil {
		c.cfg.Fail(err)
	}
}

// checkpoints compares the members' states, and lets them be hashed anew when the log has gone on far enough, or enough
// time has passed: a quiet cluster would otherwise not notice for hours that a member differs.
func (c *Members) checkpoints(lead *Leadership, servers []raft.Server) {
	own := c.checks.Last()
	lead.table.note(raft.ServerID(c.cfg.NodeID), own)
	for _, finding := range lead.table.judge(voters(servers)) {
		c.cfg.Logger.Error("the members' states differ", "finding", finding, "term", lead.Term)
	}
	c.heed(lead.table.agreement())
	if !lead.table.due(c.fsm.AppliedIndex(), own.Index, c.cfg.CheckpointEvery, c.clock.Mono(), c.cfg.CheckpointAfter) {
		return
	}
	cmd := &pb.Command{Body: &pb.Command_Checkpoint{Checkpoint: &pb.Checkpoint{}}}
	if _, err := c.log.Propose(lead.Ctx, cmd); err != nil {
		if lead.Ctx.Err() == nil {
			c.cfg.Logger.Warn("no checkpoint made yet; trying again", "error", err)
		}
		return
	}
	lead.table.propose(c.fsm.AppliedIndex(), c.clock.Mono())
}

func voters(servers []raft.Server) (ids []raft.ServerID) {
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
