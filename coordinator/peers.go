package coordinator

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// peerPort serves the calls that members make to each other on the raft port, and makes them.
// Certificates with the role stand in for tokens in PeerService; a client's call that a
// follower hands on has its token with it, and passes the leader's gate too.
type peerPort struct {
	*node.Peers
	server  *http.Server
	serving sync.WaitGroup
}

func newPeerPort(c *Coordinator, port *node.Port, api http.Handler, options connect.HandlerOption) *peerPort {
	mux := http.NewServeMux()
	mux.Handle(gramv1connect.NewPeerServiceHandler(&peerService{c}, options))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !c.awaitLead(r.Context()) { // it may not know its tokens yet, and hands nothing on twice
			unavailable(w, r, outcome.ErrNotLeader)
			return
		}
		api.ServeHTTP(w, handedOn(r))
	})
	p := &peerPort{
		server: c.cfg.limits.Server(mux, c.cfg.Logger),
		Peers:  node.NewPeers(port),
	}
	p.serving.Go(func() {
		if err := p.server.Serve(port.Calls); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			c.fail(err)
		}
	})
	return p
}

func (p *peerPort) shutdown(ctx context.Context) error {
	err := p.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, p.server.Close())
	}
	p.serving.Wait()
	p.Transport.CloseIdleConnections()
	return err
}

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
