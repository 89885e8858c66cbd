package gate

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// calls are those that have been let through and run.
type calls struct {
	mu      sync.Mutex
	running map[*call]bool
}

type call struct {
	token string
	end   context.CancelCauseFunc
}

// pass serves a call until its token is revoked or expires.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if finishes[r.URL.Path] || CallerOf(r.Context()).TokenID == "" { // a public page
		next.ServeHTTP(w, r)
		return
	}
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	c := &call{token: CallerOf(ctx).TokenID, end: end}
	g.calls.mu.Lock()
	g.calls.running[c] = true
	g.calls.mu.Unlock()
	defer func() {
		g.calls.mu.Lock()
		delete(g.calls.running, c)
		g.calls.mu.Unlock()
	}()
	// It may have been revoked since it was admitted, before Recheck could know of the call.
	record, valid := g.valid(c.token)
	if !valid {
		end(ErrUnauthenticated)
	} else if record.ExpiresAt != 0 {
		expiry := time.AfterFunc(time.UnixMilli(record.ExpiresAt).Sub(g.policy.Now()),
			func() { end(ErrUnauthenticated) })
		defer expiry.Stop()
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}

func (g *Gate) valid(id string) (Record, bool) {
	record, known := g.policy.Lookup(id)
	return record, known && !record.expired(g.policy.Now().UnixMilli())
}

// Recheck ends the calls whose token is no longer valid. It is to be called when tokens have changed.
func (g *Gate) Recheck() {
	g.calls.mu.Lock()
	defer g.calls.mu.Unlock()
	for c := range g.calls.running { // in any order
		if _, valid := g.valid(c.token); !valid {
			c.end(ErrUnauthenticated)
		}
	}
	g.rates.forget(func(id string) bool {
		_, valid := g.valid(id)
		return valid
	})
}
