package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/pki"
)

// Port is the API's port, with TLS always. A nil one listens to nobody.
type Port struct {
	listener net.Listener
	identity *pki.Identity
	limits   bounds.Limits
	server   *http.Server // nil before serve
	serving  sync.WaitGroup
}

// Bind opens the port. Connections wait in its queue until serve. Without an address it returns nil.
func Bind(address string, identity *pki.Identity, limits bounds.Limits) (*Port, error) {
	if address == "" {
		return nil, nil
	}
	if identity == nil {
		return nil, errors.New("a listener needs certificates, and so a data directory")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the API: %w", err)
	}
	return &Port{listener: bounds.Bound(listener, limits), identity: identity, limits: limits}, nil
}

// Addr is the address of the port; "" of none.
func (p *Port) Addr() string {
	if p == nil {
		return ""
	}
	return p.listener.Addr().String()
}

// Serve answers calls; fail hears of an end that nobody asked for.
func (p *Port) Serve(handler http.Handler, logger *slog.Logger, fail func(error)) {
	if p == nil {
		return
	}
	config := p.identity.ServerConfig("h2", "http/1.1")
	p.server = p.limits.Server(bounds.CountWaste(handler), logger)
	p.server.ConnContext = p.limits.WatchConduct
	p.server.TLSConfig = config
	p.serving.Go(func() {
		if err := p.server.Serve(tls.NewListener(p.listener, config)); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve the API: %w", err))
		}
	})
}

// Shutdown lets running calls end until ctx does, and closes the port.
func (p *Port) Shutdown(ctx context.Context) error {
	switch {
	case p == nil:
		return nil
	case p.server == nil:
		return p.listener.Close()
	}
	err := p.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("stop serving: %w", err), p.server.Close())
	}
	p.serving.Wait()
	return err
}
