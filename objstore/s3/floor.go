package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errSlow: a connection delivered less than the floor.
var errSlow = errors.New("slower than the throughput floor")

// floor holds a transfer to a rate: behind grows with the time spent waiting, and shrinks with the bytes moved.
type floor struct {
	rate   int64 // bytes per second
	window time.Duration
	behind time.Duration
}

// left is how long the next wait may last that moves n bytes.
func (f *floor) left(n int) time.Duration { return f.window - f.behind + f.worth(n) }

// worth is how long n bytes take at the floor.
func (f *floor) worth(n int) time.Duration {
	return time.Duration(float64(n) / float64(f.rate) * float64(time.Second))
}

// moved notes a wait and what it brought.
func (f *floor) moved(n int, waited time.Duration) {
	f.behind = max(0, f.behind+waited-f.worth(n))
}

// low reports whether the transfer is a whole window behind.
func (f *floor) low() bool { return f.behind >= f.window }

func (f *floor) fault() error {
	return fmt.Errorf("%w of %d bytes/s for %v", errSlow, f.rate, f.window)
}

// floored is a body that fails once it delivers less than the floor. The time its reader takes for other things does
// not count.
type floored struct {
	io.ReadCloser
	floor  floor
	cancel context.CancelFunc // ends a read that waits
}

func (b *floored) Read(p []byte) (int, error) {
	if b.floor.low() {
		return 0, b.floor.fault()
	}
	late := time.AfterFunc(b.floor.left(0), b.cancel)
	began := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.floor.moved(n, time.Since(began))
	if !late.Stop() { // the connection is broken off, whatever this read still got
		b.floor.behind = b.floor.window
	}
	if n == 0 && err != nil && !errors.Is(err, io.EOF) && b.floor.low() {
		err = fmt.Errorf("%w (%v)", b.floor.fault(), err) // not %w: err may be our own cancel
	}
	return n, err
}

// Close implements io.Closer.
func (b *floored) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// flooring is a transport whose bodies keep up with the floor, those of refusals and lists included.
type flooring struct {
	next  http.RoundTripper
	floor floor
}

// RoundTrip implements http.RoundTripper.
func (f *flooring) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	res, err := f.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	res.Body = &floored{ReadCloser: res.Body, floor: f.floor, cancel: cancel}
	return res, nil
}
