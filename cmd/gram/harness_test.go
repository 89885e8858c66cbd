package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

const testToken = "token-of-the-tests"

// backend is a coordinator made of functions; what is nil is not implemented.
type backend struct {
	gramv1connect.UnimplementedJobServiceHandler
	gramv1connect.UnimplementedClusterServiceHandler

	get    func(id string) (*gramv1.Job, error)
	submit func(*gramv1.SubmitRequest) (*gramv1.SubmitResponse, error)
	list   func(*gramv1.ListRequest) (*gramv1.ListResponse, error)
	cancel func(id string) (*gramv1.Job, error)
	watch  func(ctx context.Context, id string, send func(*gramv1.Job) error) error
	logs   func(req *gramv1.LogsRequest, send func(*gramv1.LogsResponse) error) error
	report func(id string) (*gramv1.ReportResponse, error)
	status *gramv1.StatusResponse
}

func (b *backend) Get(_ context.Context,
	req *connect.Request[gramv1.GetRequest]) (*connect.Response[gramv1.GetResponse], error) {
	job, err := b.get(req.Msg.GetId())
	return connect.NewResponse(&gramv1.GetResponse{Job: job}), err
}

func (b *backend) Submit(_ context.Context,
	req *connect.Request[gramv1.SubmitRequest]) (*connect.Response[gramv1.SubmitResponse], error) {
	res, err := b.submit(req.Msg)
	return connect.NewResponse(res), err
}

func (b *backend) List(_ context.Context,
	req *connect.Request[gramv1.ListRequest]) (*connect.Response[gramv1.ListResponse], error) {
	res, err := b.list(req.Msg)
	return connect.NewResponse(res), err
}

func (b *backend) Cancel(_ context.Context,
	req *connect.Request[gramv1.CancelRequest]) (*connect.Response[gramv1.CancelResponse], error) {
	job, err := b.cancel(req.Msg.GetId())
	return connect.NewResponse(&gramv1.CancelResponse{Job: job}), err
}

func (b *backend) Watch(ctx context.Context, req *connect.Request[gramv1.WatchRequest],
	stream *connect.ServerStream[gramv1.WatchResponse]) error {
	return b.watch(ctx, req.Msg.GetId(),
		func(job *gramv1.Job) error { return stream.Send(&gramv1.WatchResponse{Job: job}) })
}

func (b *backend) Logs(_ context.Context, req *connect.Request[gramv1.LogsRequest],
	stream *connect.ServerStream[gramv1.LogsResponse]) error {
	return b.logs(req.Msg, stream.Send)
}

func (b *backend) Report(_ context.Context,
	req *connect.Request[gramv1.ReportRequest]) (*connect.Response[gramv1.ReportResponse], error) {
	res, err := b.report(req.Msg.GetId())
	return connect.NewResponse(res), err
}

func (b *backend) Status(
	context.Context, *connect.Request[gramv1.StatusRequest],
) (*connect.Response[gramv1.StatusResponse], error) {
	return connect.NewResponse(b.status), nil
}

// serveOn runs a backend over TLS and HTTP/2 at an address; the token is checked as the real gate does.
func serveOn(t *testing.T, b *backend, address string) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(gramv1connect.NewJobServiceHandler(b))
	mux.Handle(gramv1connect.NewClusterServiceHandler(b))
	refuse := connect.NewErrorWriter()
	server := &httptest.Server{Listener: listener, EnableHTTP2: true, Config: &http.Server{
		ErrorLog: log.New(io.Discard, "", 0), // connections that tests break
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+testToken {
				_ = refuse.Write(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("no valid token")))
				return
			}
			mux.ServeHTTP(w, r)
		})}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// stderr is a buffer that a test can wait on.
type stderr struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and made anew at every write
}

func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

func (s *stderr) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the text holds want.
func (s *stderr) await(t *testing.T, want string) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		text, changed := s.text.String(), s.changed
		s.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("stderr never held %q:\n%s", want, text)
		}
	}
}

// session is an app in a world of its own, and what it printed.
type session struct {
	t          *testing.T
	app        *app
	env        map[string]string
	interrupts chan os.Signal
	stdout     bytes.Buffer
	stderr     *stderr
}

func newClient(t *testing.T) *session {
	c := &session{t: t, env: map[string]string{"HOME": t.TempDir()}, interrupts: make(chan os.Signal, 2),
		stderr: &stderr{changed: make(chan struct{})}}
	c.app = &app{
		in: strings.NewReader(""), out: &c.stdout, err: c.stderr,
		getenv: func(name string) string { return c.env[name] },
		dir:    t.TempDir(), now: time.Now, interrupts: c.interrupts, catch: func() func() { return func() {} },
		patience: 200 * time.Millisecond, pause: time.Millisecond, again: 20 * time.Millisecond,
	}
	return c
}

// to points the client at a server, with the right token and authority.
func (c *session) to(server *httptest.Server) *session {
	c.t.Helper()
	authority := filepath.Join(c.env["HOME"], "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.env["GRAM_ADDR"] = server.Listener.Addr().String()
	c.env["GRAM_CACERT"], c.env["GRAM_TOKEN"] = authority, testToken
	return c
}

func (c *session) run(args ...string) int {
	c.t.Helper()
	return run(c.t.Context(), c.app, args)
}

func clientOf(t *testing.T, b *backend) *session {
	return newClient(t).to(serveOn(t, b, "127.0.0.1:0"))
}

// want checks an exit code and shows what was printed when it is another.
func (c *session) want(code, got int) {
	c.t.Helper()
	if got != code {
		c.t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", got, code, c.stdout.String(), c.stderr)
	}
}

func jobIn(id string, state gramv1.JobState) *gramv1.Job {
	return &gramv1.Job{Id: id, Kind: "NaiveBayes", State: state, SubmittedUnixMs: 1_795_251_600_000, SpecHash: "5pec",
		ResultHash: "r35u17"}
}

func ends(state gramv1.JobState) func(context.Context, string, func(*gramv1.Job) error) error {
	return func(_ context.Context, id string, send func(*gramv1.Job) error) error { return send(jobIn(id, state)) }
}

const (
	running   = gramv1.JobState_JOB_STATE_RUNNING
	succeeded = gramv1.JobState_JOB_STATE_SUCCEEDED
	failed    = gramv1.JobState_JOB_STATE_FAILED
	cancelled = gramv1.JobState_JOB_STATE_CANCELLED
)

// writeSpec puts a valid spec into the client's directory.
func (c *session) writeSpec(text string) string {
	c.t.Helper()
	path := filepath.Join(c.app.dir, "spec.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

const validSpec = `{apiVersion: v1, kind: NaiveBayes, metadata: {name: Topics of 2026},
 spec: {input: {uri: ./texts.tsv, format: tsv, label: 1, text: 2}}}`
