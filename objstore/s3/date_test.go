package s3_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// The store's time is that of its Date header, also of an answer that refuses; without one there is none.
func TestDate(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	before := time.Now().Truncate(time.Second)
	if at, err := s.Date(t.Context()); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("the store's time is %s, %v; it is %s", at, err, time.Now())
	}
	right := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	p.breakWith(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Date", right.Format(http.TimeFormat))
		status(w, http.StatusForbidden, "RequestTimeTooSkewed")
		return true
	})
	if at, err := s.Date(t.Context()); err != nil || !at.Equal(right) {
		t.Errorf("refused: the store's time is %s, %v", at, err)
	}
	for _, header := range []string{"", "yesterday"} {
		p.breakWith(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header()["Date"] = nil
			if header != "" {
				w.Header().Set("Date", header)
			}
			w.WriteHeader(http.StatusOK)
			return true
		})
		if at, err := s.Date(t.Context()); err == nil {
			t.Errorf("Date %q: the store's time is %s", header, at)
		}
	}
}
