package coordinator

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

type peerService struct{ c *Coordinator }

// Health tells how far this member is.
func (s *peerService) Health(_ context.Context, req *connect.Request[pb.HealthRequest]) (*connect.Response[pb.HealthResponse], error) {
	s.c.heed(node.Checkpoint{Index: req.Msg.GetAgreedIndex(), Digest: req.Msg.GetAgreedSha256()})
	s.c.heedTime(req.Msg.GetAgreedUnixMs())
	last, v := s.c.checks.Last(), s.c.verdict()
	res := &pb.HealthResponse{
		Id: s.c.cfg.NodeID, AppliedIndex: s.c.member.Raft.AppliedIndex(), LastIndex: s.c.member.Raft.LastIndex(), Version: s.c.cfg.Version,
		Term: s.c.member.Raft.CurrentTerm(), CheckpointIndex: last.Index, CheckpointSha256: last.Digest, LowDisk: s.c.lowDisk.Load(),
		ClockUnixMs: s.c.wall().UnixMilli(), ClockTrusted: v.Trusted(), ClockOffsetMs: v.Offset.Milliseconds(),
	}
	if req.Msg.GetWithState() {
		view, _ := s.c.fsm.View()
		digest := view.Digest()
		res.StateSha256 = digest[:]
	}
	return connect.NewResponse(res), nil
}
