package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
)

// inProcess hands requests of a client to a handler in this process. It implements http.RoundTripper.
type inProcess struct {
	handler http.Handler
	logger  *slog.Logger
}

// callerKey is that of the page's request in the context of a call.
type callerKey struct{}

// RoundTrip answers once the handler has begun its answer. Closing the body ends the call and waits for the handler.
func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	r := req.Clone(ctx)
	r.RequestURI = req.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if page, ok := ctx.Value(callerKey{}).(*http.Request); ok { // it is asked in the name of the one who looks
		r.Host, r.RemoteAddr = page.Host, page.RemoteAddr
	}
	body, to := io.Pipe()
	a := &answer{header: http.Header{}, to: to, begun: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		defer p.brokenOff(a)
		p.handler.ServeHTTP(a, r)
		a.WriteHeader(http.StatusOK) // if it has written nothing
		_ = to.Close()               // never fails
	}()
	select {
	case <-a.begun:
	case <-ctx.Done():
		_ = body.CloseWithError(ctx.Err()) // never fails
		cancel()
		<-a.ended
		return nil, context.Cause(req.Context())
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, ContentLength: -1, Request: req,
		Body: &answerBody{body, func() {
			cancel()
			<-a.ended
		}},
	}, nil
}

// brokenOff ends the answer of a handler that panics, as net/http does for those it calls: a proxy breaks off so when
// either side of it goes, which would end the process here.
func (p inProcess) brokenOff(a *answer) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause != http.ErrAbortHandler {
		p.logger.Error("panic in a call of a page", "cause", cause, "stack", string(debug.Stack()))
	}
	a.WriteHeader(http.StatusBadGateway)                                         // unless it has begun
	_ = a.to.CloseWithError(errors.New("the answer of the cluster was cut off")) // never fails
}

// answer is what a handler writes to.
type answer struct {
	header, sent http.Header
	to           *io.PipeWriter
	once         sync.Once
	status       int
	begun, ended chan struct{}
}

func (a *answer) Header() http.Header { return a.header }

// WriteHeader begins the answer; only the first counts.
func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.to.Write(p)
}

// Flush has nothing to do: nothing is kept back.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// answerBody is the body of an answer.
type answerBody struct {
	*io.PipeReader
	end func()
}

func (b *answerBody) Close() error {
	err := b.PipeReader.CloseWithError(errors.New("web: the call was given up"))
	b.end()
	return err
}
