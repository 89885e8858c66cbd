package s3

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// retry runs one call, again while the store is unavailable. It refuses bad keys
// first, and gives errors their final shape.
func (s *Store) retry(ctx context.Context, op, key string, call func() error) error {
	if err := s.checkKey(key); err != nil {
		return s.fail(op, key, err)
	}
	return s.attempt(ctx, op, key, call)
}

func (s *Store) attempt(ctx context.Context, op, key string, call func() error) error {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return s.fail(op, key, err)
		}
		err := mapErr(call())
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return s.fail(op, key, fmt.Errorf("%w (%v)", ctx.Err(), err))
		case n >= s.cfg.Attempts || !errors.Is(err, objstore.ErrUnavailable) || errors.Is(err, errPermanent):
			return s.fail(op, key, err)
		}
		if ended := s.pause(ctx, n); ended != nil {
			return s.fail(op, key, fmt.Errorf("%w, waiting to try again after: %w", ended, err))
		}
	}
}

// pause waits, besides the up to 200 ms that minio-go itself spends
// on a failed request, after the n-th failure: exponential backoff with full jitter, which
// spreads those who failed together over the whole interval (M. Brooker,
// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
func (s *Store) pause(ctx context.Context, n int) error {
	ceiling := s.cfg.RetryCap
	if s.cfg.RetryBase <= ceiling>>(n-1) { // else the shift passes the ceiling, or overflows
		ceiling = s.cfg.RetryBase << (n - 1)
	}
	timer := time.NewTimer(rand.N(ceiling + 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
