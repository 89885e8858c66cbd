package coordinator

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// peerPort serves the calls that members make to each other on the raft port, and makes them.
// Certificates with the role stand in for tokens in PeerService; a client's call that a
// follower hands on has its token with it, and passes the leader's gate too.
type peerPort struct {
	server    *http.Server
	transport *http.Transport
	client    *http.Client
	serving   sync.WaitGroup
}

// errDial marks a peer that could not be reached: nothing was sent.
var errDial = errors.New("cannot reach the member")

func newPeerPort(c *Coordinator, port *raftPort, api http.Handler, options connect.HandlerOption) *peerPort {
	mux := http.NewServeMux()
	mux.Handle(gramv1connect.NewPeerServiceHandler(&peerService{c}, options))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !c.awaitLead(r.Context()) { // it may not know its tokens yet, and hands nothing on twice
			unavailable(w, r, ErrNotLeader)
			return
		}
		api.ServeHTTP(w, handedOn(r))
	})
	p := &peerPort{
		server: c.cfg.limits.server(mux, c.cfg.Logger),
		transport: &http.Transport{
			ForceAttemptHTTP2: true,
			DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, dialLimit)
				defer cancel()
				conn, err := port.dial(ctx, address, callProtocol)
				if err != nil {
					return nil, errors.Join(errDial, err)
				}
				return conn, nil
			},
			// A peer that is gone without a word is noticed by its silence.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
		},
	}
	p.client = &http.Client{Transport: p.transport}
	p.serving.Go(func() {
		if err := p.server.Serve(port.calls); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			c.fail(err)
		}
	})
	return p
}

const dialLimit = 2 * time.Second

func (p *peerPort) shutdown(ctx context.Context) error {
	err := p.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, p.server.Close())
	}
	p.serving.Wait()
	p.transport.CloseIdleConnections()
	return err
}

// health asks a member how it is, and tells it what most members agree on: a state, and unless it is zero the time.
func (p *peerPort) health(ctx context.Context, address string, agreed checked, now time.Time) (*pb.HealthResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	req := &pb.HealthRequest{AgreedIndex: agreed.index, AgreedSha256: agreed.digest}
	if !now.IsZero() {
		req.AgreedUnixMs = now.UnixMilli()
	}
	res, err := gramv1connect.NewPeerServiceClient(p.client, "https://"+address).Health(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

type peerService struct{ c *Coordinator }

// Health tells how far this member is.
func (s *peerService) Health(_ context.Context, req *connect.Request[pb.HealthRequest]) (*connect.Response[pb.HealthResponse], error) {
	s.c.heed(checked{req.Msg.GetAgreedIndex(), req.Msg.GetAgreedSha256()})
	s.c.heedTime(req.Msg.GetAgreedUnixMs())
	last, v := s.c.checks.last(), s.c.verdict()
	res := &pb.HealthResponse{
		Id: s.c.cfg.NodeID, AppliedIndex: s.c.member.raft.AppliedIndex(), LastIndex: s.c.member.raft.LastIndex(), Version: s.c.cfg.Version,
		Term: s.c.member.raft.CurrentTerm(), CheckpointIndex: last.index, CheckpointSha256: last.digest, LowDisk: s.c.lowDisk.Load(),
		ClockUnixMs: s.c.wall().UnixMilli(), ClockTrusted: v.Trusted(), ClockOffsetMs: v.Offset.Milliseconds(),
	}
	if req.Msg.GetWithState() {
		view, _ := s.c.fsm.view()
		digest := view.Digest()
		res.StateSha256 = digest[:]
	}
	return connect.NewResponse(res), nil
}
