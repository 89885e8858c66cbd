package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gram-compute/gram/objstore"
)

var _ objstore.Dater = (*Store)(nil)

// shownDate is the Date of a call's answer. Hedged requests may set it at the same time.
type shownDate struct {
	mu   sync.Mutex
	text string
}

func (d *shownDate) show(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text != "" {
		d.text = text
	}
}

// dateKey is the context's key for where a call's answer leaves its Date.
type dateKey struct{}

// dated notes the Date header of answers for calls that ask for it: minio-go does not show it.
type dated struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d dated) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := d.next.RoundTrip(req)
	if to, ok := req.Context().Value(dateKey{}).(*shownDate); ok && err == nil {
		to.show(res.Header.Get("Date"))
	}
	return res, err
}

// Date implements objstore.Dater by asking for the bucket. A refusal tells the time as well as any answer: a clock that
// is far off is why S3 refuses (RequestTimeTooSkewed).
func (s *Store) Date(ctx context.Context) (time.Time, error) {
	var header shownDate
	_, err := s.client.BucketExists(context.WithValue(ctx, dateKey{}, &header), s.cfg.Bucket)
	at, bad := http.ParseTime(header.text)
	if bad != nil {
		return time.Time{}, &objstore.Error{Op: "date", Store: s.String(),
			Err: fmt.Errorf("%w: no answer with a Date: %w", objstore.ErrUnavailable, errors.Join(err, bad))}
	}
	return at, nil
}
