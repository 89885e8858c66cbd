package lead

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// Members changes who belongs to the cluster, and knows how the others are.
type Members struct {
	*Leader
	changing sync.Mutex // held while this leader changes who belongs to the cluster
}

// List lists the coordinators.
func (c *Members) List(ctx context.Context) (*pb.MembersResponse, error) {
	view, _, err := c.Read(ctx)
	if err != nil {
		return nil, err
	}
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	servers, _, err := c.member.Servers()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(servers, func(a, b raft.Server) int { return cmp.Compare(a.ID, b.ID) }) // total order: ids differ
	res := &pb.MembersResponse{ClusterId: view.ClusterID}
	for _, server := range servers {
		res.Members = append(res.Members, c.describeMember(lead, server))
	}
	return res, nil
}

func (c *Members) describeMember(lead *Leadership, s raft.Server) *pb.Member {
	m := &pb.Member{Id: string(s.ID), RaftAddress: string(s.Address), Voter: s.Suffrage == raft.Voter}
	if s.ID == raft.ServerID(c.cfg.NodeID) {
		m.Leader, m.Healthy, m.Version, m.DiskLow = true, true, c.cfg.Version, c.lowDisk.Load()
		view, _ := c.fsm.View()
		m.Clock = c.clock.Status(view)
		return m
	}
	p := lead.peers.get(s.ID)
	m.Healthy, m.Version, m.Clock, m.DiskLow = p.healthy, p.version, p.clock, p.lowDisk
	if here := c.member.Raft.AppliedIndex(); here > p.applied {
		m.Behind = here - p.applied
	}
	return m
}

// Join adds a coordinator without a vote.
func (c *Members) Join(ctx context.Context, req *pb.JoinRequest) (*pb.JoinResponse, error) {
	view, _, err := c.Read(ctx)
	if err != nil {
		return nil, err
	}
	id, address := raft.ServerID(req.GetId()), raft.ServerAddress(req.GetRaftAddress())
	if err := checkMember(id, address); err != nil {
		return nil, err
	}
	if mine, its := c.cfg.StoreURI, req.GetStoreUri(); mine != its {
		return nil, outcome.Refuse(state.Conflict,
			"this cluster keeps its jobs in %s, the new member would in %s: start it with the same --store", mine, its)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	servers, index, err := c.member.Servers()
	if err != nil {
		return nil, err
	}
	known, err := mayJoin(servers, id, address, req.GetLogIsEmpty())
	if err != nil {
		return nil, err
	}
	if view, _ := c.fsm.View(); !known && view.Removed(string(id)) {
		return nil, outcome.Refuse(state.Conflict, "a member %s was removed, and none joins under its id again: "+
			"choose another (--node-id), or none, and one is drawn", id)
	}
	if !known {
		if err := c.log.Await(ctx, c.member.Raft.AddNonvoter(id, address, index, c.cfg.ApplyTimeout)); err != nil {
			return nil, err
		}
		c.cfg.Logger.Info("member joins", "member", string(id), "address", string(address))
	}
	return &pb.JoinResponse{ClusterId: view.ClusterID}, nil
}

func checkMember(id raft.ServerID, address raft.ServerAddress) error {
	if id == "" || len(id) > 128 {
		return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a member's id has 1 to 128 bytes"))
	}
	if !reachable(string(address)) {
		return connect.NewError(connect.CodeInvalidArgument,
			fmt.Errorf("members cannot reach each other at %q: start it with --advertise HOST:PORT", address))
	}
	return nil
}

// reachable reports whether the address may mean the same machine to everyone.
func reachable(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || port == "0" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsUnspecified()
}

// mayJoin decides on a member that asks to join; known means that it is one already. A
// voter with an empty log has forgotten what it voted for and acknowledged: let in again
// under its id, it could help to elect a leader that lacks committed entries.
func mayJoin(
	servers []raft.Server, id raft.ServerID, address raft.ServerAddress, emptyLog bool,
) (known bool, err error) {
	for _, s := range servers {
		switch {
		case s.Suffrage == raft.Voter && !reachable(string(s.Address)):
			err = outcome.Refuse(state.Conflict, "member %s is in the log as %s, where others cannot reach it: "+
				"start it again with --advertise HOST:PORT first", s.ID, s.Address)
		case s.ID == id && s.Suffrage == raft.Voter && emptyLog:
			return false, outcome.Refuse(state.Conflict, "%s is a voting member, and this one's log is empty: a "+
				"member that lost its disk comes back under another id (--node-id); then `gram cluster remove %s`", id,
				id)
		case s.ID == id && s.Address != address:
			return false, outcome.Refuse(state.Conflict,
				"%s is a member at %s: choose another id (--node-id), or remove that member first", id, s.Address)
		case s.ID != id && s.Address == address:
			return false, outcome.Refuse(state.Conflict, "%s is the address of member %s: `gram cluster remove %s` "+
				"first if it is gone for good", address, s.ID, s.ID)
		case s.ID == id:
			known = true
		}
	}
	return known, err
}

// Remove takes a coordinator out of the cluster. One that was taken out before is out: no error. Its id goes into the
// log first: should the rest fail, the member is still one, and may be removed again.
func (c *Members) Remove(ctx context.Context, req *pb.RemoveRequest) (*pb.RemoveResponse, error) {
	view, _, err := c.Read(ctx)
	if err != nil {
		return nil, err
	}
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	id := raft.ServerID(req.GetId())
	c.changing.Lock()
	defer c.changing.Unlock()
	servers, index, err := c.member.Servers()
	if err != nil {
		return nil, err
	}
	if view.Removed(string(id)) && !isMember(servers, id) {
		return &pb.RemoveResponse{}, nil
	}
	c.probe(lead, servers) // what is known may be from before an election
	healthy := func(id raft.ServerID) bool { return id == raft.ServerID(c.cfg.NodeID) || lead.peers.get(id).healthy }
	if err := mayRemove(servers, id, raft.ServerID(c.cfg.NodeID), healthy); err != nil {
		return nil, err
	}
	remove := &pb.RemoveMember{Id: string(id)}
	reply, err := c.log.Propose(ctx, &pb.Command{Body: &pb.Command_RemoveMember{RemoveMember: remove}})
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	if err != nil {
		return nil, err
	}
	if err := c.log.Await(ctx, c.member.Raft.RemoveServer(id, index, c.cfg.ApplyTimeout)); err != nil {
		return nil, err
	}
	c.cfg.Logger.Info("member removed", "member", string(id))
	return &pb.RemoveResponse{}, nil
}

// mayRemove refuses to take out who is needed: without it, most of those left must answer.
func mayRemove(servers []raft.Server, id, leader raft.ServerID, healthy func(raft.ServerID) bool) error {
	if !isMember(servers, id) {
		return outcome.Refuse(state.NotFound, "no member %q", id)
	}
	if id == leader {
		return outcome.Refuse(state.Ended, "%s leads: stop it (SIGTERM hands the lead over), then remove it", id)
	}
	voters, answering := 0, 0
	for _, s := range servers {
		if s.ID == id || s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if healthy(s.ID) {
			answering++
		}
	}
	if 2*answering <= voters {
		return outcome.Refuse(state.Ended, "without %s only %d of %d voting members would answer, and the cluster "+
			"would stand still: bring another back, or let one join, first", id, answering, voters)
	}
	return nil
}

func isMember(servers []raft.Server, id raft.ServerID) bool {
	return slices.ContainsFunc(servers, func(s raft.Server) bool { return s.ID == id })
}

// Health tells how far this member is.
func (c *Members) Health(req *pb.HealthRequest) *pb.HealthResponse {
	c.heed(node.Checkpoint{Index: req.GetAgreedIndex(), Digest: req.GetAgreedSha256()})
	c.heedTime(req.GetAgreedUnixMs())
	last, v := c.checks.Last(), c.clock.Verdict()
	res := &pb.HealthResponse{
		Id: c.cfg.NodeID, AppliedIndex: c.member.Raft.AppliedIndex(), LastIndex: c.member.Raft.LastIndex(),
		Version: c.cfg.Version,
		Term:    c.member.Raft.CurrentTerm(), CheckpointIndex: last.Index, CheckpointSha256: last.Digest,
		LowDisk:     c.lowDisk.Load(),
		ClockUnixMs: c.clock.Wall().UnixMilli(), ClockTrusted: v.Trusted(), ClockOffsetMs: v.Offset.Milliseconds(),
	}
	if req.GetWithState() {
		view, _ := c.fsm.View()
		digest := view.Digest()
		res.StateSha256 = digest[:]
	}
	return res
}
