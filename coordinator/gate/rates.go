package gate

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// ErrTooManyCalls: the token makes more calls than it may. The same call succeeds a little later.
var ErrTooManyCalls = errors.New("too many calls with this token")

// fleet is how many times as many calls as a person's a worker's token may make.
const fleet = 10

// rates holds a token bucket for each token that has called.
type rates struct {
	limit float64 // calls per second; 0 means any number
	mu    sync.Mutex
	of    map[string]*rate.Limiter // by id of the token, which is a valid one
}

func (r *rates) take(caller Caller, now time.Time) error {
	if r.limit <= 0 {
		return nil
	}
	limit := r.limit
	if caller.Scope == ScopeWorker {
		limit *= fleet
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bucket := r.of[caller.TokenID]
	if bucket == nil {
		if r.of == nil {
			r.of = map[string]*rate.Limiter{}
		}
		bucket = rate.NewLimiter(rate.Limit(limit), max(1, int(2*limit)))
		r.of[caller.TokenID] = bucket
	}
	if !bucket.AllowN(now, 1) {
		return fmt.Errorf("%w: more than %g in a second; try again later", ErrTooManyCalls, limit)
	}
	return nil
}

// forget drops the buckets of tokens that are no longer valid.
func (r *rates) forget(valid func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.of { // in any order
		if !valid(id) {
			delete(r.of, id)
		}
	}
}
