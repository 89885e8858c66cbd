package gate

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// crossOrigin refuses what a browser says another site has begun.
var crossOrigin = http.NewCrossOriginProtection()

// harden tells browsers to make nothing of an answer: no page, no script, no frame.
func harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// sameOrigin refuses requests that other sites' pages make, with any method, and those for a name that this
// server does not go by (DNS rebinding). Clients that are no browsers send no Origin.
func (g *Gate) sameOrigin(r *http.Request) error {
	if err := crossOrigin.Check(r); err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host {
			return fmt.Errorf("%w: it comes from a page of another site", ErrForbidden)
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, site := OfSite(r)
	if g.policy.Host != nil && (site || needed(r) != ScopePublic) && // probes ask for addresses
		!g.policy.Host(host) {
		return fmt.Errorf("%w: this server does not go by the name %q; add it with --tls-name", ErrForbidden, host)
	}
	return nil
}
