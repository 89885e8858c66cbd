package client

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// failover sends every request to the server that answered last, and moves on to the next
// one, in order, when it cannot be reached or says that it is not able to answer (503).
type failover struct {
	next    http.RoundTripper
	hosts   []string // host:port, at least one: they stand in for the host of every request's URL
	current atomic.Uint32
}

// RoundTrip implements http.RoundTripper. Each server is asked once, as long as the request can
// be sent again; every call of Gram's may be repeated.
func (t *failover) RoundTrip(req *http.Request) (*http.Response, error) {
	first := t.current.Load()
	for try := uint32(0); ; try++ {
		at := (first + try) % uint32(len(t.hosts))
		out := req.Clone(req.Context())
		out.URL.Host, out.Host = t.hosts[at], ""
		if try > 0 && req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, fmt.Errorf("send the request again: %w", err)
			}
			out.Body = body
		}
		res, err := t.next.RoundTrip(out)
		if err == nil && res.StatusCode != http.StatusServiceUnavailable {
			return res, nil
		}
		t.current.CompareAndSwap(at, (at+1)%uint32(len(t.hosts))) // for the next request
		last := int(try) == len(t.hosts)-1
		if last || req.Context().Err() != nil || req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
			return res, err
		}
		if err == nil {
			res.Body.Close() // it says no more than its status
		}
	}
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *failover) CloseIdleConnections() {
	if below, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		below.CloseIdleConnections()
	}
}
