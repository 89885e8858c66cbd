package coordinator

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/clock"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// AcceptClock trusts this leader's wall clock as it is. The other members follow within seconds where theirs agree
// with it.
func (s *clusterService) AcceptClock(ctx context.Context, _ *connect.Request[pb.AcceptClockRequest]) (*connect.Response[pb.AcceptClockResponse], error) {
	if _, _, err := s.c.read(ctx); err != nil {
		return nil, err
	}
	res := &pb.AcceptClockResponse{Accepted: !s.c.verdict().Trusted()}
	if res.Accepted {
		s.c.clock.Accept()
		s.c.cfg.Logger.Warn("the clock was accepted by a person", "now", s.c.wall().UTC())
	}
	view, _ := s.c.fsm.View()
	if view.Now-s.c.wall().UnixMilli() > clock.JumpLimit.Milliseconds() {
		back, err := s.c.setClock(ctx)
		if err != nil {
			return nil, err
		}
		res.Accepted, res.SetBackMs = true, back
	}
	res.NowUnixMs = s.c.wall().UnixMilli()
	return connect.NewResponse(res), nil
}
