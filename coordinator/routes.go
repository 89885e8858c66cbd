package coordinator

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/api"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/web"
)

// routes joins the services behind the gate. What needs the leader is carried there.
func (c *Coordinator) routes() {
	options := listen.Options(c.cfg.Logger,
		meters.CountCalls{Meters: c.meters}, audit.Follow{}, connect.UnaryInterceptorFunc(outcome.WireUnary))
	local := listen.BoundCompressed(c.trails.Calls(c.services.Handler(options, listen.Uncompressed())))
	c.door = gate.New(c.gatePolicy()).OnDenial(c.denied)
	var answer http.Handler = local
	if port := c.member.Port; port != nil {
		answer = &listen.Forwarder{
			Leader: c.leads, Local: local, Transport: c.peers.Transport, Tasks: c.tasks, NodeID: c.cfg.NodeID,
			Logger: c.cfg.Logger,
		}
		between := http.NewServeMux()
		between.Handle(gramv1connect.NewPeerServiceHandler(&api.Peers{Membership: c.leads.Members()}, options))
		between.Handle("/", listen.Carried(c.leads, c.tasks, c.door.WrapCarried(local)))
		c.peerPort = listen.ServePeers(port.Calls, between, c.cfg.limits, c.cfg.Logger, c.fail)
	}
	c.site = web.New(c.door.Wrap(answer), c.tasks.Stopping(), c.cfg.Logger)
	c.handler = listen.Hold(c.door.Wrap(listen.Pages(health{c}, c.meters.Handler(), listen.Site(c.site, answer))),
		c.begun, c.tasks)
}

func (c *Coordinator) gatePolicy() gate.Policy {
	policy := gate.Policy{Lookup: c.lookupToken, Now: c.clock.Admitted, Rate: max(0, c.cfg.CallRate)}
	if c.identity != nil {
		policy.Host, policy.WorkerCertificates = c.identity.Covers, c.cfg.WorkerCertificates
	}
	return policy
}

// keepWatch follows what the door goes by: the tokens and the certificate's files.
func (c *Coordinator) keepWatch(life context.Context) {
	c.tasks.Go(func() { c.recheckTokens(life) })
	c.tasks.Go(func() { listen.RefreshCertificate(life, c.identity, c.cfg.limits.Refresh, c.cfg.Logger) })
}

// recheckTokens ends the calls of tokens that are revoked.
func (c *Coordinator) recheckTokens(ctx context.Context) {
	for {
		changed := c.fsm.TokensChanged()
		c.door.Recheck()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (c *Coordinator) lookupToken(id string) (gate.Record, bool) {
	view, _ := c.fsm.View()
	token, ok := view.Tokens.Get(id)
	return gate.Record{SecretSHA256: token.SecretSHA256, Scope: gate.Scope(token.Scope), ExpiresAt: token.ExpiresAt}, ok
}

// denied counts and writes down what the gate refused. A browser before its login leaves no line, but its connection
// has no more requests for nothing than others.
func (c *Coordinator) denied(r *http.Request, caller gate.Caller, reason error) {
	if gate.Anonymous(r, reason) {
		bounds.Waste(r.Context())
		return
	}
	c.refused(r, caller, reason)
}

// refused counts and writes down a request that shows what opens nothing, or too little.
func (c *Coordinator) refused(r *http.Request, caller gate.Caller, reason error) {
	name := meters.Denial(reason)
	c.meters.Denied.WithLabelValues(name).Inc()
	if errors.Is(reason, gate.ErrUnauthenticated) || errors.Is(reason, gate.ErrTooManyCalls) {
		bounds.Waste(r.Context())
	}
	c.trails.Denied(r, caller, reason, name)
}
