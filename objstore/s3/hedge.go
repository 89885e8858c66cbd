package s3

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Of many requests to a store the slowest hang: on a lost packet, a stuck server behind the balancer, a connection that
// delivers nothing any more. A second request beside the first, once that is late, costs little and usually answers at
// once (J. Dean and L. A. Barroso, "The Tail at Scale", CACM 56(2), 2013, "hedged requests").

// hedgeMost is how many requests there are at most for one, the first included.
const hedgeMost = 3

// progress tells when a call moved something last.
type progress struct {
	begun time.Time
	moved atomic.Int64 // nanoseconds since begun
}

func (p *progress) move() { p.moved.Store(int64(time.Since(p.begun))) }

// quiet is for how long nothing moved.
func (p *progress) quiet() time.Duration { return time.Since(p.begun) - time.Duration(p.moved.Load()) }

type outcome[T any] struct {
	value T
	err   error
	call  int
}

// hedged calls call, and again beside it, hedgeMost times at most, whenever the newest call has moved nothing for
// after. The first success counts: the contexts of the others end, and what they come to all the same is dropped. It
// returns once every call has ended, with the first error where none succeeds. end must be called when the value is
// of no more use.
func hedged[T any](ctx context.Context, after time.Duration, drop func(T),
	call func(context.Context, *progress) (T, error)) (T, context.CancelFunc, error) {
	results := make(chan outcome[T], hedgeMost)
	var ends []context.CancelFunc
	var newest *progress
	begin := func() {
		own, end := context.WithCancel(ctx)
		newest = &progress{begun: time.Now()}
		n, moved := len(ends), newest
		ends = append(ends, end)
		go func() { // waited for below
			value, err := call(own, moved)
			results <- outcome[T]{value, err, n}
		}()
	}
	begin()
	timer := time.NewTimer(after)
	defer timer.Stop()
	var best *outcome[T]
	for ended := 0; ended < len(ends); {
		select {
		case <-timer.C:
			if left := after - newest.quiet(); left > 0 {
				timer.Reset(left)
			} else if (best == nil || best.err != nil) && len(ends) < hedgeMost {
				begin()
				timer.Reset(after)
			}
		case got := <-results:
			ended++
			switch {
			case best != nil && best.err == nil:
				if got.err == nil {
					drop(got.value)
				}
			case best == nil || got.err == nil:
				best = &got
			}
			for n, end := range ends { // of the winner not; of the others once there is one
				if n == got.call && got.err != nil || best.err == nil && n != best.call {
					end()
				}
			}
		}
	}
	return best.value, ends[best.call], best.err
}

// hedging is a transport that repeats requests without a body beside themselves.
type hedging struct {
	next  http.RoundTripper
	after time.Duration
}

// RoundTrip implements http.RoundTripper.
func (h *hedging) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead || req.Body != nil && req.Body != http.NoBody {
		return h.next.RoundTrip(req)
	}
	res, end, err := hedged(req.Context(), h.after, closeBody,
		func(ctx context.Context, _ *progress) (*http.Response, error) {
			return h.next.RoundTrip(req.Clone(ctx))
		})
	if err != nil {
		end()
		return nil, err
	}
	res.Body = &endingBody{res.Body, end}
	return res, nil
}

func closeBody(res *http.Response) { _ = res.Body.Close() }

// endingBody ends its request's context when it is closed.
type endingBody struct {
	io.ReadCloser
	end context.CancelFunc
}

func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
