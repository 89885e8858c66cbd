package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// ErrUnreached marks a peer that could not be reached: nothing was sent.
var ErrUnreached = errors.New("cannot reach the member")

// DialLimit bounds a connection to another member, and a short question to it.
const DialLimit = 2 * time.Second

// Peers makes the calls of a member to the others, on their raft ports.
type Peers struct {
	Transport *http.Transport
	client    *http.Client
}

// NewPeers makes calls through the port.
func NewPeers(port *Port) *Peers {
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, DialLimit)
			defer cancel()
			conn, err := port.dial(ctx, address, callProtocol)
			if err != nil {
				return nil, errors.Join(ErrUnreached, err)
			}
			return conn, nil
		},
		// A peer that is gone without a word is noticed by its silence.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}
	return &Peers{Transport: transport, client: &http.Client{Transport: transport}}
}

// Health asks a member how it is, and tells it what most members agree on: a state, and unless it is zero the time.
func (p *Peers) Health(
	ctx context.Context, address string, agreed Checkpoint, now time.Time,
) (*pb.HealthResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, DialLimit)
	defer cancel()
	req := &pb.HealthRequest{AgreedIndex: agreed.Index, AgreedSha256: agreed.Digest}
	if !now.IsZero() {
		req.AgreedUnixMs = now.UnixMilli()
	}
	res, err := gramv1connect.NewPeerServiceClient(p.client, "https://"+address).Health(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

// Move asks a member, who must lead, to correct an address.
func (p *Peers) Move(ctx context.Context, to, id, address, clusterID string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*DialLimit)
	defer cancel()
	_, err := gramv1connect.NewPeerServiceClient(p.client, "https://"+to).Move(ctx, connect.NewRequest(&pb.MoveRequest{
		Id: id, RaftAddress: address, ClusterId: clusterID,
	}))
	return err
}
