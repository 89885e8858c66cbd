package gate

import (
	"context"
	"net/http"

	"github.com/gram-compute/gram/coordinator/pki"
)

// Caller is who a request comes from, as far as the gate has made sure of it.
type Caller struct {
	TokenID string   // "" where no valid token came
	Scope   Scope    // of the token
	Role    pki.Role // of the certificate shown; "" for none
	Key     string   // the digest of that certificate's public key, in hexadecimal
}

type callerKey struct{}

// CallerOf is the caller of a request that the gate let through.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

func withCaller(r *http.Request, caller Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
}

// OnDenial has tell called with every request that is refused, before it is answered.
func (g *Gate) OnDenial(tell func(r *http.Request, caller Caller, reason error)) *Gate {
	g.denied = tell
	return g
}
