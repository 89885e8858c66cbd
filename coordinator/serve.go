package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// maxMessage bounds a request.
const maxMessage = 4 << 20

// compressedFrom is the size from which an answer is compressed: below, preparing to takes
// longer than sending.
const compressedFrom = 4 << 10

// routes joins the services behind the gate. What needs the leader is carried there.
func (c *Coordinator) routes() {
	options := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(maxMessage),
		compression(),
		strictBodies(),
		connect.WithInterceptors(countCalls{c.meters}, followTrails{}, connect.UnaryInterceptorFunc(outcome.WireUnary)),
		connect.WithRecover(func(_ context.Context, spec connect.Spec, _ http.Header, cause any) error {
			c.cfg.Logger.Error("panic in a call", "procedure", spec.Procedure, "cause", cause)
			return connect.NewError(connect.CodeInternal, errors.New("internal fault; see the coordinator's log"))
		}),
	)
	mux := http.NewServeMux()
	mux.Handle(gramv1connect.NewJobServiceHandler(&jobService{c}, options))
	mux.Handle(gramv1connect.NewWorkerServiceHandler(&workerService{c}, options))
	mux.Handle(gramv1connect.NewClusterServiceHandler(&clusterService{c}, options))
	mux.Handle(gramv1connect.NewScheduleServiceHandler(&scheduleService{c}, options))
	mux.Handle(gramv1connect.NewModelServiceHandler(&modelService{c}, options))
	mux.Handle(gramv1connect.NewUpkeepServiceHandler(&upkeepService{c}, options))
	mux.Handle(gramv1connect.NewTokenServiceHandler(&tokenService{c}, options))
	local := boundCompressed(c.writeTrails(mux))
	c.door = gate.New(c.gatePolicy()).OnDenial(c.denied)
	if c.member.Port == nil {
		c.handler = c.held(c.door.Wrap(c.pages(local)))
		return
	}
	c.peers = newPeerPort(c, c.member.Port, c.door.WrapCarried(local), options)
	c.handler = c.held(c.door.Wrap(c.pages(&forwarder{c: c, local: local})))
}

func (c *Coordinator) gatePolicy() gate.Policy {
	policy := gate.Policy{Lookup: c.lookupToken, Now: c.admitted, Rate: max(0, c.cfg.CallRate)}
	if c.identity != nil {
		policy.Host, policy.WorkerCertificates = c.identity.Covers, c.cfg.WorkerCertificates
	}
	return policy
}

// keepWatch follows what the door goes by: the tokens and the certificate's files.
func (c *Coordinator) keepWatch(life context.Context) {
	c.tasks.Go(func() { c.recheckTokens(life) })
	c.tasks.Go(func() { c.refreshCertificate(life) })
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
	token, ok := view.Token(id)
	return gate.Record{SecretSHA256: token.SecretSHA256, Scope: gate.Scope(token.Scope), ExpiresAt: token.ExpiresAt}, ok
}

// bind opens the API's port. Connections wait in its queue until serve.
func (c *Coordinator) bind() error {
	if c.cfg.ListenAddr == "" {
		return nil
	}
	if c.identity == nil {
		return errors.New("a listener needs certificates, and so a data directory")
	}
	listener, err := net.Listen("tcp", c.cfg.ListenAddr)
	if err != nil {
		return fmt.Errorf("listen for the API: %w", err)
	}
	c.listener = bounds.Bound(listener, c.cfg.limits)
	return nil
}

// serve answers calls, with TLS always. They wait until the log is applied, but for probes.
func (c *Coordinator) serve() {
	if c.listener == nil {
		return
	}
	config := c.identity.ServerConfig("h2", "http/1.1")
	c.server = c.cfg.limits.Server(bounds.CountWaste(c.handler), c.cfg.Logger)
	c.server.ConnContext = c.cfg.limits.WatchConduct
	c.server.TLSConfig = config
	c.tasks.Go(func() {
		if err := c.server.Serve(tls.NewListener(c.listener, config)); !errors.Is(err, http.ErrServerClosed) {
			c.fail(fmt.Errorf("serve the API: %w", err))
		}
	})
}
