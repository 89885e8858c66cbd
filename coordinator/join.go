package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// checkAuthority refuses to join others with an authority of this member's own, which they
// would not trust.
func checkAuthority(cfg Config) error {
	if len(cfg.Join) == 0 {
		return nil
	}
	file := filepath.Join(cfg.DataDir, "pki", CAFile)
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("%w: to join others this member needs a certificate of their authority: `gram pki issue "+
			"--ca PKI --out %s NAME...`, where PKI is the directory with the authority and its key, "+
			"NAME what the others call this machine (%w)",
			node.ErrDataDir, filepath.Dir(file), err)
	}
	return nil
}

// join asks the cluster to take this member in, until it does or says no, and returns the
// cluster's id. Asking twice is safe.
func (c *Coordinator) join(ctx context.Context, stores node.Stores) (string, error) {
	last, err := stores.Log.LastIndex()
	if err != nil {
		return "", fmt.Errorf("look for an existing log: %w", err)
	}
	req := &pb.JoinRequest{
		Id: c.cfg.NodeID, RaftAddress: string(c.member.Address), LogIsEmpty: last == 0, StoreUri: c.cfg.StoreURI,
	}
	config := c.identity.ClientConfig()
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, TLSHandshakeTimeout: node.DialLimit}
	defer transport.CloseIdleConnections()
	for {
		for _, address := range c.cfg.Join {
			id, err := c.askToJoin(ctx, &http.Client{Transport: transport}, address, req)
			if err == nil || errors.Is(err, ErrJoin) {
				return id, err
			}
			c.cfg.Logger.Warn("cannot join yet; trying again", "at", address, "error", err)
		}
		retry := time.NewTimer(lead.RetryDelay)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return "", fmt.Errorf("join: %w", context.Cause(ctx))
		}
	}
}

func (c *Coordinator) askToJoin(
	ctx context.Context, client *http.Client, address string, req *pb.JoinRequest,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ApplyTimeout+listen.LeaderWait)
	defer cancel()
	call := connect.NewRequest(req)
	call.Header().Set("Authorization", "Bearer "+c.cfg.JoinToken.Reveal())
	res, err := gramv1connect.NewClusterServiceClient(client, "https://"+address).Join(ctx, call)
	var refused *connect.Error
	var untrusted *tls.CertificateVerificationError
	switch {
	case err == nil:
		return res.Msg.GetClusterId(), nil
	case errors.As(err, &untrusted):
		return "", fmt.Errorf("%w: %s shows a certificate that this member does not trust (%w): pki in the data "+
			"directory must come from that cluster's authority (`gram pki issue`), and its certificate cover that "+
			"name (`--tls-name`)",
			ErrJoin, address, untrusted.Err)
	case errors.As(err, &refused) && connect.IsWireError(err) && refused.Code() != connect.CodeUnavailable &&
		refused.Code() != connect.CodeDeadlineExceeded:
		return "", fmt.Errorf("%w at %s: %s", ErrJoin, address, refused.Message())
	}
	return "", err
}

// readyPoll is how often a member looks whether it has caught up after its start.
const readyPoll = 20 * time.Millisecond

// awaitFollowing closes following once this member has applied all that the leader had
// when it was first asked: before, good tokens could be unknown here.
func (c *Coordinator) awaitFollowing(ctx context.Context, following chan struct{}) {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	target := uint64(0)
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		leads, leader, _ := c.leads.WhoLeads()
		if leads {
			return // followLeadership tells
		}
		if leader == "" || c.peers == nil {
			continue
		}
		if target == 0 {
			if answer, err := c.peers.Health(ctx, leader, node.Checkpoint{}, time.Time{}); err == nil {
				target = answer.GetAppliedIndex()
			}
			continue
		}
		view, _ := c.fsm.View()
		if view.ClusterID == "" || c.member.Raft.AppliedIndex() < target {
			continue
		}
		if err := node.MarkInitialized(c.cfg.DataDir, view.ClusterID); err != nil {
			c.fail(err)
			return
		}
		c.cfg.Logger.Info("following", "leader", leader)
		close(following)
		return
	}
}
