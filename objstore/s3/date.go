package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gram-compute/gram/objstore"
)

var _ objstore.Dater = (*Store)(nil)

// dateKey is the context's key for where a call's answer leaves its Date.
type dateKey struct{}

// dated notes the Date header of answers for calls that ask for it: minio-go does not show it.
type dated struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d dated) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := d.next.RoundTrip(req)
	if to, ok := req.Context().Value(dateKey{}).(*string); ok && err == nil {
		*to = res.Header.Get("Date")
	}
	return res, err
}

// Date implements objstore.Dater by asking for the bucket. A refusal tells the time as well as any answer: a clock that
// is far off is why S3 refuses (RequestTimeTooSkewed).
func (s *Store) Date(ctx context.Context) (time.Time, error) {
	var header string
	_, err := s.client.BucketExists(context.WithValue(ctx, dateKey{}, &header), s.cfg.Bucket)
	at, bad := http.ParseTime(header)
	if bad != nil {
		return time.Time{}, &objstore.Error{Op: "date", Store: s.String(), Err: fmt.Errorf("%w: no answer with a Date: %w", objstore.ErrUnavailable, errors.Join(err, bad))}
	}
	return at, nil
}
