package s3

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// attempt is how one of the calls goes: it answers after a time, or never.
type attempt struct {
	takes time.Duration // 0 is never
	err   error
	moves time.Duration // it shows progress this often; 0 is never
}

var errAttempt = errors.New("as the test wants")

// What a request costs that hangs, drips or fails, on a clock of the test's own.
func TestHedged(t *testing.T) {
	const after = 5 * time.Second
	for name, c := range map[string]struct {
		attempts []attempt
		winner   int // -1: none
		took     time.Duration
		calls    int
	}{
		"at once":         {[]attempt{{takes: time.Second}}, 0, time.Second, 1},
		"fails at once":   {[]attempt{{takes: time.Second, err: errAttempt}}, -1, time.Second, 1},
		"the first hangs": {[]attempt{{}, {takes: time.Second}}, 1, after + time.Second, 2},
		"two hang":        {[]attempt{{}, {}, {takes: time.Second}}, 2, 2*after + time.Second, 3},
		"late, but before the second": {[]attempt{{takes: 6 * time.Second}, {takes: 9 * time.Second}}, 0,
			6 * time.Second, 2},
		"the second fails": {[]attempt{{takes: 7 * time.Second}, {takes: time.Second, err: errAttempt}},
			0, 7 * time.Second, 2},
		"the first fails late": {[]attempt{{takes: 6 * time.Second, err: errAttempt},
			{takes: 4 * time.Second}}, 1, 9 * time.Second, 2},
		"both fail": {[]attempt{{takes: 6 * time.Second, err: errAttempt},
			{takes: 2 * time.Second, err: errAttempt}}, -1, 7 * time.Second, 2},
		"it gets on, slowly": {[]attempt{{takes: time.Minute, moves: 4 * time.Second}}, 0, time.Minute, 1},
		"it stops getting on after 20 s": {[]attempt{{moves: 20 * time.Second}, {takes: time.Second}}, 1,
			after + time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, dropped atomic.Int32
				began := time.Now()
				got, end, err := hedged(t.Context(), after, func(int) { dropped.Add(1) },
					func(ctx context.Context, p *progress) (int, error) {
						n := int(calls.Add(1)) - 1
						return n, c.attempts[n].run(ctx, p)
					})
				took := time.Since(began)
				end()
				if took != c.took || int(calls.Load()) != c.calls {
					t.Errorf("%v and %d calls, want %v and %d", took, calls.Load(), c.took, c.calls)
				}
				if c.winner < 0 != (err != nil) || err == nil && got != c.winner {
					t.Errorf("call %d, %v", got, err)
				}
			})
		})
	}
}

func (a attempt) run(ctx context.Context, p *progress) error {
	var done <-chan time.Time
	if a.takes > 0 {
		done = time.After(a.takes)
	}
	var moves <-chan time.Time
	if a.moves > 0 {
		ticker := time.NewTicker(a.moves)
		defer ticker.Stop()
		moves = ticker.C
	}
	for {
		select {
		case <-moves:
			p.move()
		case <-done:
			return a.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dripping gives a number of bytes per read, after a pause; none at all after a number of them.
type dripping struct {
	ctx   context.Context
	pause time.Duration
	bytes int
	reads int // until it hangs; below 0 never
}

func (d *dripping) Read(p []byte) (int, error) {
	if d.reads == 0 {
		<-d.ctx.Done()
		return 0, d.ctx.Err()
	}
	d.reads--
	select {
	case <-time.After(d.pause):
		return min(len(p), d.bytes), nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *dripping) Close() error { return nil }

// A body that drips or hangs ends within the window; one at the floor, or one whose reader is slow itself, does not.
func TestFloor(t *testing.T) {
	for name, c := range map[string]struct {
		body   dripping
		reader time.Duration // what the reader takes between two reads
		slow   time.Duration // until errSlow; 0: never
	}{
		"a byte a second":  {dripping{pause: time.Second, bytes: 1, reads: -1}, 0, 10 * time.Second},
		"it hangs at once": {dripping{}, 0, 10 * time.Second},
		"it hangs after a MiB": {dripping{pause: time.Millisecond, bytes: 16 << 10, reads: 64}, 0,
			64*time.Millisecond + 10*time.Second},
		"half the floor": {dripping{pause: time.Second, bytes: 8 << 10, reads: -1}, 0, 20 * time.Second},
		"the floor":      {dripping{pause: time.Second, bytes: 16 << 10, reads: -1}, 0, 0},
		"a slow reader":  {dripping{pause: time.Millisecond, bytes: 1 << 10, reads: -1}, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				c.body.ctx = ctx
				b := &floored{ReadCloser: &c.body, floor: floor{rate: 16 << 10, window: 10 * time.Second},
					cancel: cancel}
				defer b.Close()
				began := time.Now()
				buffer := make([]byte, 64<<10)
				var err error
				for n := 0; n < 100 && err == nil; n++ {
					_, err = b.Read(buffer)
					<-time.After(c.reader) // on the bubble's clock
				}
				took := time.Since(began)
				if c.slow == 0 {
					if err != nil {
						t.Errorf("%v after %v", err, took)
					}
					return
				}
				if !errors.Is(err, errSlow) || errors.Is(err, io.EOF) || took < c.slow-time.Second ||
					took > c.slow+time.Second {
					t.Errorf("%v after %v, want about %v", err, took, c.slow)
				}
			})
		})
	}
}
