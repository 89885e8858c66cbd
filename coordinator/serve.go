package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// compressedFrom is the size from which an answer is compressed: below, preparing to takes
// longer than sending.
const compressedFrom = 4 << 10

// routes joins the services behind the gate. What needs the leader is carried there.
func (c *Coordinator) routes() {
	options := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(maxMessage),
		connect.WithCompressMinBytes(compressedFrom),
		connect.WithInterceptors(countCalls{c.meters}, followTrails{}, connect.UnaryInterceptorFunc(wireErrors)),
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
	local := c.writeTrails(mux)
	door := gate.New(c.lookupToken, time.Now).OnDenial(c.denied)
	if c.member.port == nil {
		c.handler = c.held(door.Wrap(c.pages(local)))
		return
	}
	c.peers = newPeerPort(c, c.member.port, door.Wrap(local), options)
	c.handler = c.held(door.Wrap(c.pages(&forwarder{c: c, local: local})))
}

func (c *Coordinator) lookupToken(id string) (gate.Record, bool) {
	view, _ := c.fsm.view()
	token, ok := view.Token(id)
	return gate.Record{SecretSHA256: token.SecretSHA256, Scope: gate.Scope(token.Scope), ExpiresAt: token.ExpiresAt}, ok
}

// bind opens the API's port. Connections wait in its queue until serve.
func (c *Coordinator) bind() (err error) {
	if c.cfg.ListenAddr == "" {
		return nil
	}
	if c.identity == nil {
		return errors.New("a listener needs certificates, and so a data directory")
	}
	if c.listener, err = net.Listen("tcp", c.cfg.ListenAddr); err != nil {
		return fmt.Errorf("listen for the API: %w", err)
	}
	return nil
}

// serve answers calls, with TLS always. They wait until the log is applied, but for probes.
func (c *Coordinator) serve() {
	if c.listener == nil {
		return
	}
	config := c.identity.ServerConfig()
	config.NextProtos = []string{"h2", "http/1.1"}
	c.server = &http.Server{
		Handler:           c.handler,
		TLSConfig:         config,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(slogWriter{c.cfg.Logger}, "", 0),
	}
	c.tasks.Go(func() {
		if err := c.server.Serve(tls.NewListener(c.listener, config)); !errors.Is(err, http.ErrServerClosed) {
			c.fail(fmt.Errorf("serve the API: %w", err))
		}
	})
}

// wireErrors gives unary calls' errors their codes.
func wireErrors(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		return res, wireError(err)
	}
}

// wireError maps our errors to Connect codes. Unavailable means: repeat the call.
func wireError(err error) error {
	var coded *connect.Error
	var rejection *state.Rejection
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case errors.As(err, &rejection):
		return connect.NewError(rejectionCode(rejection.Reason), rejection)
	case errors.Is(err, ErrNotLeader), errors.Is(err, ErrUnknownOutcome), errors.Is(err, ErrShutdown):
		return connect.NewError(connect.CodeUnavailable, err)
	case errors.Is(err, ErrEntryTooBig):
		return connect.NewError(connect.CodeInvalidArgument, err)
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return connect.NewError(connect.CodeInternal, err)
}

func rejectionCode(r state.Reason) connect.Code {
	switch r {
	case state.Malformed:
		return connect.CodeInvalidArgument
	case state.NotFound:
		return connect.CodeNotFound
	case state.Conflict:
		return connect.CodeAlreadyExists
	case state.Exhausted:
		return connect.CodeResourceExhausted
	}
	return connect.CodeFailedPrecondition
}
