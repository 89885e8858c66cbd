package coordinator

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// tellAddress has the leader correct this member's address in the log, when it was started at another: the
// leader looks for it at the old one, so it must speak first. A leader corrects its own.
func (c *Coordinator) tellAddress(ctx context.Context) {
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
			if err = c.peers.Move(ctx, string(other.Address), c.cfg.NodeID, string(c.member.Address), c.clusterID()); err == nil {
				c.cfg.Logger.Info("the leader knows this member's new address", "address", string(c.member.Address), "was", string(own.Address))
				return
			}
		}
		c.cfg.Logger.Warn("the others do not know this member's new address yet; trying again", "address", string(c.member.Address), "error", err)
		retry := time.NewTimer(retryDelay)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return
		}
	}
}

func (c *Coordinator) ownEntry(servers []raft.Server) (own *raft.Server, others []raft.Server) {
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
func (s *peerService) Move(ctx context.Context, req *connect.Request[pb.MoveRequest]) (*connect.Response[pb.MoveResponse], error) {
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	id, address := raft.ServerID(req.Msg.GetId()), raft.ServerAddress(req.Msg.GetRaftAddress())
	if err := checkMember(id, address); err != nil {
		return nil, err
	}
	s.c.membership.Lock()
	defer s.c.membership.Unlock()
	servers, index, err := s.c.member.Servers()
	if err != nil {
		return nil, err
	}
	server, err := mayMove(servers, id, address, req.Msg.GetClusterId() == s.c.clusterID())
	if err != nil || server.Address == address {
		return connect.NewResponse(&pb.MoveResponse{}), err
	}
	answer, err := s.c.peers.Health(lead.ctx, string(address), node.Checkpoint{}, time.Time{})
	if err != nil || answer.GetId() != string(id) {
		return nil, outcome.Refuse(state.Conflict, "member %s does not answer at %s (%v): start it with --advertise HOST:PORT, where the others reach it", id, address, err)
	}
	change := s.c.member.Raft.AddVoter
	if server.Suffrage != raft.Voter {
		change = s.c.member.Raft.AddNonvoter
	}
	if err := s.c.await(ctx, change(id, address, index, s.c.cfg.ApplyTimeout)); err != nil {
		return nil, err
	}
	s.c.cfg.Logger.Info("member has moved", "member", string(id), "address", string(address), "was", string(server.Address))
	return connect.NewResponse(&pb.MoveResponse{}), nil
}

// mayMove returns the member that asks, as the log has it.
func mayMove(servers []raft.Server, id raft.ServerID, address raft.ServerAddress, sameCluster bool) (raft.Server, error) {
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

// NoLeader says that the cluster stands still, and what would help.
func (c *Coordinator) NoLeader() error {
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
	return fmt.Errorf("%w: member %s is up, but of the %d members with a vote %d must run and reach each other on their raft ports",
		outcome.ErrNoLeader, c.cfg.NodeID, voters, voters/2+1)
}
