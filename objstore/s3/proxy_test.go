package s3_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

// minio-go pauses a little after each failed request of its own accord.
func init() { minio.DefaultRetryUnit = time.Microsecond }

// proxy stands between the client and a real server and breaks some requests.
type proxy struct {
	server  *httptest.Server
	forward http.Handler

	mu       sync.Mutex
	requests []*http.Request
	// fault sees request number n, counted from 1 since it was set, and answers it or returns false.
	fault func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newProxy(t *testing.T, target *s3server.Server) *proxy {
	t.Helper()
	to, err := url.Parse(target.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{forward: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which the signature covers
	}}}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests = append(p.requests, r)
	n, fault := len(p.requests), p.fault
	p.mu.Unlock()
	if fault == nil || !fault(n, w, r) {
		p.forward.ServeHTTP(w, r)
	}
}

// breakWith sets the fault and forgets the requests so far.
func (p *proxy) breakWith(fault func(n int, w http.ResponseWriter, r *http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.fault = nil, fault
}

// seen gives the requests since breakWith.
func (p *proxy) seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*http.Request(nil), p.requests...)
}

// open makes a bucket and opens it through the proxy, with quick retries.
func (p *proxy) open(t *testing.T, target *s3server.Server, bucket string, change ...func(*s3.Config)) *s3.Store {
	t.Helper()
	target.MakeBucket(t, bucket)
	cfg := target.Config(bucket)
	cfg.Endpoint, cfg.Attempts, cfg.RetryBase, cfg.RetryCap = p.server.URL, 3, time.Millisecond, 10*time.Millisecond
	for _, c := range change {
		c(&cfg)
	}
	return openStore(t, cfg)
}

func openStore(t *testing.T, cfg s3.Config) *s3.Store {
	t.Helper()
	s, err := s3.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// status answers with an S3 error; the header is for HEAD, which has no body.
func status(w http.ResponseWriter, code int, s3code string) bool {
	if s3code != "" {
		w.Header().Set("x-minio-error-code", s3code)
	}
	w.WriteHeader(code)
	if s3code != "" {
		_, _ = w.Write([]byte("<Error><Code>" + s3code + "</Code><Message>as the test wants</Message></Error>"))
	}
	return true
}

// hangUp drops the connection.
func hangUp() { panic(http.ErrAbortHandler) }

// loseReply lets the request happen and drops the connection.
func (p *proxy) loseReply(r *http.Request) {
	p.forward.ServeHTTP(httptest.NewRecorder(), r)
	hangUp()
}

// cutBody sends the first n bytes of the true reply's body and drops the connection.
func (p *proxy) cutBody(w http.ResponseWriter, r *http.Request, n int) {
	reply := httptest.NewRecorder()
	p.forward.ServeHTTP(reply, r)
	for name, values := range reply.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(reply.Body.Len()))
	w.WriteHeader(reply.Code)
	_, _ = w.Write(reply.Body.Bytes()[:min(n, reply.Body.Len())])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	hangUp()
}

// damaged flips a bit of the first byte.
type damaged struct{ io.ReadCloser }

func (d *damaged) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if n > 0 {
		p[0] ^= 1
	}
	return n, err
}
