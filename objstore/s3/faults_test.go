package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

func put(t *testing.T, s objstore.Store, key string, data []byte) objstore.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, data)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func wantBytes(t *testing.T, s objstore.Store, key string, want []byte) {
	t.Helper()
	got, _, err := objstore.ReadAll(t.Context(), s, key, objstore.GetOptions{}, 1<<30)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s holds %d bytes, %v; want %d", key, len(got), err, len(want))
	}
}

// everyCall runs each operation once and gives its error.
func everyCall(ctx context.Context, s objstore.Store) map[string]error {
	out := map[string]error{"delete": s.Delete(ctx, "k")}
	_, out["put"] = s.Put(ctx, "k", []byte("x"))
	_, _, out["get"] = s.Get(ctx, "k", objstore.GetOptions{})
	_, out["stat"] = s.Stat(ctx, "k")
	for _, err := range s.List(ctx, "") {
		out["list"] = err
	}
	return out
}

func TestPassingFaultsAreTriedAgain(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	faults := map[string]func(w http.ResponseWriter, r *http.Request){
		"503":         func(w http.ResponseWriter, _ *http.Request) { status(w, 503, "SlowDown") },
		"500":         func(w http.ResponseWriter, _ *http.Request) { status(w, 500, "InternalError") },
		"502 by hand": func(w http.ResponseWriter, _ *http.Request) { status(w, 502, "") },
		"429":         func(w http.ResponseWriter, _ *http.Request) { status(w, 429, "") },
		"409":         func(w http.ResponseWriter, _ *http.Request) { status(w, 409, "OperationAborted") },
		"400 timeout": func(w http.ResponseWriter, _ *http.Request) { status(w, 400, "RequestTimeout") },
		"hang-up":     func(http.ResponseWriter, *http.Request) { hangUp() },
		"lost reply":  func(_ http.ResponseWriter, r *http.Request) { p.loseReply(r) },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			twice := func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n > 2 {
					return false
				}
				fault(w, r)
				return true
			}
			data := []byte("data of " + name)
			p.breakWith(twice)
			put(t, s, name, data)
			if n := len(p.seen()); n != 3 {
				t.Errorf("put took %d requests, want 3", n)
			}
			p.breakWith(twice)
			wantBytes(t, s, name, data)
			p.breakWith(twice)
			if _, err := s.Stat(t.Context(), name); err != nil {
				t.Error(err)
			}
			p.breakWith(twice)
			for info, err := range s.List(t.Context(), name) {
				if err != nil || info.Key != name {
					t.Errorf("list: %+v, %v", info, err)
				}
			}
			p.breakWith(twice)
			if err := s.Delete(t.Context(), name); err != nil {
				t.Error(err)
			}
			p.breakWith(nil)
			if _, err := s.Stat(t.Context(), name); !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("deleted, and yet: %v", err)
			}
		})
	}
}

func TestRetriesAreBounded(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	for _, c := range []struct {
		code     int
		s3code   string
		want     error
		requests int // per call
	}{
		{503, "SlowDown", objstore.ErrUnavailable, 3},
		{501, "NotImplemented", objstore.ErrUnavailable, 1},
		{403, "AccessDenied", objstore.ErrDenied, 1},
		{401, "", objstore.ErrDenied, 1},
		{400, "ExpiredToken", objstore.ErrDenied, 1},
		{404, "NoSuchBucket", objstore.ErrInvalidURI, 1},
		{301, "PermanentRedirect", objstore.ErrInvalidURI, 1},
	} {
		p.breakWith(func(_ int, w http.ResponseWriter, r *http.Request) bool {
			return status(w, c.code, c.s3code)
		})
		for op, err := range everyCall(t.Context(), s) {
			if !errors.Is(err, c.want) {
				t.Errorf("%d %s: %s: %v, want %v", c.code, c.s3code, op, err, c.want)
			}
		}
		want := 5 * c.requests
		if c.code == 404 {
			want++ // HEAD leaves open what is missing
		}
		if n := len(p.seen()); n != want {
			t.Errorf("%d %s: %d requests for 5 calls, want %d", c.code, c.s3code, n, want)
		}
	}
}

func TestWaitingToRetryEndsWithTheContext(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", func(c *s3.Config) { c.RetryBase, c.RetryCap = time.Hour, time.Hour })
	for _, op := range []string{"put", "get", "body"} {
		ctx, cancel := context.WithCancel(t.Context())
		p.breakWith(nil)
		put(t, s, "k", []byte("0123456789"))
		p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
			cancel()
			if op == "body" {
				p.cutBody(w, r, 5)
			}
			return status(w, 503, "")
		})
		err := error(nil)
		switch op {
		case "put":
			_, err = s.Put(ctx, "k", nil)
		default:
			_, _, err = objstore.ReadAll(ctx, s, "k", objstore.GetOptions{}, 10)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", op, err)
		}
		cancel()
	}
}

func TestBrokenBodyIsTakenUpAgain(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	put(t, s, "k", data)
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n <= 5 {
			p.cutBody(w, r, 7001)
		}
		return false
	})
	got, _, err := objstore.ReadAll(t.Context(), s, "k", objstore.GetOptions{Offset: 3, Length: 90_000}, 1<<20)
	if err != nil || !bytes.Equal(got, data[3:90_003]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	seen := p.seen()
	if len(seen) != 6 {
		t.Errorf("%d requests, want 6", len(seen))
	}
	for i, r := range seen {
		if want := fmt.Sprintf("bytes=%d-90002", 3+7001*i); r.Header.Get("Range") != want || i > 0 &&
			r.Header.Get("If-Match") == "" {
			t.Errorf("request %d asks for %s of %s, want %s", i+1, r.Header.Get("Range"), r.Header.Get("If-Match"),
				want)
		}
	}
}

func TestBodyThatStaysShort(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	put(t, s, "k", []byte("0123456789"))
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			p.cutBody(w, r, 4)
		}
		p.cutBody(w, r, 0)
		return true
	})
	r, _, err := s.Get(t.Context(), "k", objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if string(got) != "0123" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v; want 0123 and io.ErrUnexpectedEOF", got, err)
	}
	if e, ok := errors.AsType[*objstore.Error](err); !ok || e.Key != "k" {
		t.Errorf("%v does not name the object", err)
	}
}

func TestObjectChangesWhileBodyIsBroken(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	direct := openStore(t, server.Config("bucket"))
	put(t, s, "k", []byte("0123456789"))
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			defer put(t, direct, "k", []byte("abcdefghij"))
			p.cutBody(w, r, 4)
		}
		return false
	})
	r, _, err := s.Get(t.Context(), "k", objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != "0123" || !errors.Is(err, objstore.ErrChanged) {
		t.Errorf("%q, %v; want 0123 and ErrChanged", got, err)
	}
}

// TestListingIsTakenUpAgain: every other answer is a fault, more in all than one call has tries.
func TestListingIsTakenUpAgain(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", func(c *s3.Config) { c.PageSize = 4 })
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("k%02d", i))
		put(t, s, want[i], nil)
	}
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		return n%2 == 1 && status(w, 503, "SlowDown")
	})
	var got []string
	for info, err := range s.List(t.Context(), "k") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v", got)
	}
	if n := len(p.seen()); n < 14 { // 7 pages, and as many faults
		t.Errorf("%d requests: the listing was not paged", n)
	}
}

// TestListingCancelledBetweenPages: minio-go then ends without a word.
func TestListingCancelledBetweenPages(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	server.MakeBucket(t, "bucket")
	cfg := server.Config("bucket")
	cfg.PageSize = 1
	s := openStore(t, cfg)
	put(t, s, "a", nil)
	put(t, s, "b", nil)
	objstoretest.CancelMidList(t, s)
}

// TestServersThatIgnoreHeaders: some S3 servers leave Range or If-Match unread.
func TestServersThatIgnoreHeaders(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"new"`)
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		_, _ = io.WriteString(w, "0123456789")
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	s := openStore(t, s3.Config{Bucket: "bucket", Endpoint: server.URL, AccessKey: "a", SecretKey: "s",
		RetryBase: time.Hour})
	if _, _, err := s.Get(t.Context(), "k", objstore.GetOptions{IfMatch: "old"}); !errors.Is(err, objstore.ErrChanged) {
		t.Errorf("If-Match ignored: %v", err)
	}
	if _, _, err := s.Get(t.Context(), "k", objstore.GetOptions{Offset: 2, Length: 3}); err == nil ||
		!strings.Contains(err.Error(), "whole object") {
		t.Errorf("Range ignored: %v", err)
	}
	got, _, err := objstore.ReadAll(t.Context(), s, "k", objstore.GetOptions{Length: 10, IfMatch: "new"}, 10)
	if string(got) != "0123456789" || err != nil {
		t.Errorf("a range that is the whole object: %q, %v", got, err)
	}
}

func TestRedirectIsRefused(t *testing.T) {
	asked := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	s := openStore(t, s3.Config{Bucket: "bucket", Endpoint: server.URL, AccessKey: "a", SecretKey: "s"})
	for op, err := range everyCall(t.Context(), s) {
		if !errors.Is(err, objstore.ErrInvalidURI) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if len(asked) != 0 {
		t.Errorf("the other host was asked for %s", <-asked)
	}
}

func TestStalledConnection(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/body") && r.Header.Get("Range") == "" {
			w.Header().Set("ETag", `"e"`)
			w.Header().Set("Content-Length", "10")
			w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
			_, _ = io.WriteString(w, "01234")
			w.(http.Flusher).Flush()
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	s := openStore(t, s3.Config{Bucket: "bucket", Endpoint: server.URL, AccessKey: "a", SecretKey: "s",
		Attempts: 2, RetryBase: time.Millisecond, StallTimeout: 50 * time.Millisecond})
	if _, err := s.Stat(t.Context(), "k"); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("no reply: %v", err)
	}
	r, _, err := s.Get(t.Context(), "body", objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a body: %v", err)
	}
}
