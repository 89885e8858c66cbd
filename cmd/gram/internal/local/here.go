// Package local runs coordinators and workers on this machine: in this process or in processes of
// their own, within its memory, and with the stores that the command line allows.
package local

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/worker"
)

// Here is a cluster of one in this process: a coordinator in memory, a worker, and
// pipes between them instead of a network.
type Here struct {
	Cluster     *client.Cluster
	coordinator *coordinator.Coordinator
	server      *http.Server
	drain       context.CancelFunc
	working     sync.WaitGroup
	serving     sync.WaitGroup
}

// StartHere starts one with its job objects in the store at uri, which the worker's OpenStore opens. A worker that
// fails aborts.
func StartHere(
	ctx context.Context, abort context.CancelCauseFunc, uri, version string, cfg worker.Config,
) (*Here, error) {
	store, err := cfg.OpenStore(ctx, uri)
	if err != nil {
		return nil, err
	}
	c, err := coordinator.Start(ctx, coordinator.Config{
		StoreURI: uri, Store: store, Validate: all.Validate, MostRounds: all.RoundsFrom,
		Ended:  report.EndedBy(all.Lookup),
		Logger: cfg.Logger, Version: version})
	if err != nil {
		return nil, err
	}
	h := &Here{coordinator: c, server: &http.Server{Handler: c.Handler()}}
	listener := newPipeListener()
	h.serving.Go(func() {
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			abort(err)
		}
	})
	h.connect(listener, &cfg)
	var working context.Context
	working, h.drain = context.WithCancel(context.WithoutCancel(ctx))
	h.working.Go(func() {
		if err := RunWorker(working, cfg); err != nil {
			abort(err)
		}
	})
	return h, nil
}

// connect makes the clients of both sides.
func (h *Here) connect(listener *pipeListener, cfg *worker.Config) {
	const address = "http://here" // the pipes do not leave the process, so there is no TLS
	httpClient := &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	as := func(token string) connect.ClientOption { return connect.WithInterceptors(client.Fixed(token)) }
	h.Cluster = client.Over(httpClient, address, as(h.coordinator.AdminToken().Reveal()))
	cfg.Client = gramv1connect.NewWorkerServiceClient(httpClient, address, as(h.coordinator.WorkerToken().Reveal()))
}

// Stop ends the worker, then the coordinator, then the server.
func (h *Here) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	h.drain()
	h.working.Wait()
	err := errors.Join(h.coordinator.Shutdown(ctx), h.server.Shutdown(ctx))
	h.serving.Wait()
	return err
}

// pipeListener accepts connections made by dial in the same process.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next dial.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and dial.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is a name.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "here", Net: "pipe"} }

// RunWorker runs a worker until ctx ends and it has drained.
func RunWorker(ctx context.Context, cfg worker.Config) error {
	limitMemory(cfg.Memory)
	cfg.Kind = all.Lookup
	return worker.Run(ctx, cfg)
}
