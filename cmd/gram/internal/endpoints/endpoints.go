// Package endpoints lets an HTTP client talk to whichever of several servers answers.
package endpoints

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// Transport sends every request to the server that answered last, and moves on to the next
// one, in order, when it cannot be reached or says that it is not able to answer (503).
type Transport struct {
	next    http.RoundTripper
	hosts   []string
	current atomic.Uint32
}

// New makes a transport over next. Hosts (host:port, at least one) stand in for the host of
// every request's URL.
func New(next http.RoundTripper, hosts []string) *Transport {
	return &Transport{next: next, hosts: hosts}
}

// RoundTrip implements http.RoundTripper. Each server is asked once, as long as the request can
// be sent again; every call of Gram's may be repeated.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
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
func (t *Transport) CloseIdleConnections() {
	if below, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		below.CloseIdleConnections()
	}
}
