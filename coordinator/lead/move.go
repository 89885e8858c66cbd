package lead

import (
	"context"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// TellAddress has the leader correct this member's address in the log, when it was started at another: the
// leader looks for it at the old one, so it must speak first. A leader corrects its own.
func (c *Members) TellAddress(ctx context.Context) {
	for {
		servers, _, err := c.member.Servers()
		own, others := c.ownEntry(servers)
		if err != nil || own == nil || own.Address == c.member.Address {
			return // nothing to tell; a member that joins has told already
		}
		if leads, _, _ := c.WhoLeads(); leads {
			return
		}
		for _, other := range others {
			if err = c.peers.Move(ctx, string(other.Address), c.cfg.NodeID, string(c.member.Address),
				c.cfg.ClusterID()); err == nil {
				c.cfg.Logger.Info("the leader knows this member's new address", "address", string(c.member.Address),
					"was", string(own.Address))
				return
			}
		}
		c.cfg.Logger.Warn("the others do not know this member's new address yet; trying again", "address",
			string(c.member.Address), "error", err)
		retry := time.NewTimer(RetryDelay)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return
		}
	}
}

func (c *Members) ownEntry(servers []raft.Server) (own *raft.Server, others []raft.Server) {
	for _, s := range servers {
		if s.ID == raft.ServerID(c.cfg.NodeID) {
			own = &s
		} else {
			others = append(others, s)
		}
	}
	return own, others
}

// Move corrects a member's address. That it is the member, and no other that took its name on an empty disk,
// shows in the cluster's id, which it has from its log, and in its answer at the new address.
func (c *Members) Move(ctx context.Context, req *pb.MoveRequest) (*pb.MoveResponse, error) {
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	id, address := raft.ServerID(req.GetId()), raft.ServerAddress(req.GetRaftAddress())
	if err := checkMember(id, address); err != nil {
		return nil, err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	servers, index, err := c.member.Servers()
	if err != nil {
		return nil, err
	}
	same := req.GetClusterId() == c.cfg.ClusterID()
	if view, _ := c.fsm.View(); same && view.Removed(string(id)) && !isMember(servers, id) {
		return nil, outcome.Refuse(state.Ended, "%s %s", id, wasRemoved)
	}
	server, err := mayMove(servers, id, address, same)
	if err != nil || server.Address == address {
		return &pb.MoveResponse{}, err
	}
	answer, err := c.peers.Health(lead.Ctx, string(address), node.Checkpoint{}, time.Time{})
	if err != nil || answer.GetId() != string(id) {
		return nil, outcome.Refuse(state.Conflict, "member %s does not answer at %s (%v): start it with --advertise "+
			"HOST:PORT, where the others reach it", id, address, err)
	}
	change := c.member.Raft.AddVoter
	if server.Suffrage != raft.Voter {
		change = c.member.Raft.AddNonvoter
	}
	if err := c.log.Await(ctx, change(id, address, index, c.cfg.ApplyTimeout)); err != nil {
		return nil, err
	}
	c.cfg.Logger.Info("member has moved", "member", string(id), "address", string(address), "was",
		string(server.Address))
	return &pb.MoveResponse{}, nil
}

// mayMove returns the member that asks, as the log has it.
func mayMove(
	servers []raft.Server, id raft.ServerID, address raft.ServerAddress, sameCluster bool,
) (raft.Server, error) {
	var found *raft.Server
	for _, s := range servers {
		switch {
		case s.ID == id:
			found = &s
		case s.Address == address:
			return raft.Server{}, outcome.Refuse(state.Conflict, "%s is the address of member %s", address, s.ID)
		}
	}
	if found == nil || !sameCluster {
		return raft.Server{}, outcome.Refuse(state.NotFound, "%s is no member of this cluster", id)
	}
	return *found, nil
}

// wasRemoved tells a refusal to a member that was taken out from all others of its code.
const wasRemoved = "was removed from this cluster"

// knownRemoved asks the others whether this member was taken out. The leader's last entries to one that is do not
// always reach it, and without them it would stand for elections forever.
func (c *Members) knownRemoved(ctx context.Context, servers []raft.Server) bool {
	_, others := c.ownEntry(servers)
	return slices.ContainsFunc(others, func(other raft.Server) bool {
		err := c.peers.Move(ctx, string(other.Address), c.cfg.NodeID, string(c.member.Address), c.cfg.ClusterID())
		return connect.CodeOf(err) == connect.CodeFailedPrecondition && strings.HasSuffix(err.Error(), wasRemoved)
	})
}
