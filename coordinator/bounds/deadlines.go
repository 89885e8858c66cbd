package bounds

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Deadlines bounds how long a request's body may take to come, and each piece of the answer to go; a peer that
// dribbles or does not read loses its call. Between pieces a call may wait as long as it likes.
func (l Limits) Deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// In-process servers have no deadlines to set; then nobody can stall them from outside either.
		if control.SetReadDeadline(time.Now().Add(l.Body)) == nil {
			if r.Body == nil || r.Body == http.NoBody {
				_ = control.SetReadDeadline(time.Time{}) // it could be set just now
			} else {
				r.Body = &timedBody{ReadCloser: r.Body, control: control}
			}
		}
		next.ServeHTTP(&timedWriter{ResponseWriter: w, control: control, limit: l.Write}, r)
	})
}

// timedBody lifts the deadline at the body's end: what the connection hears then is the next request's matter,
// or that the client has gone.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{}) // a connection that is gone has no deadline
	}
	return n, err
}

// timedWriter gives every piece of an answer a deadline.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func (w *timedWriter) extend() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.limit)) // a connection that is gone has no deadline
}

// WriteHeader implements http.ResponseWriter.
func (w *timedWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *timedWriter) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher. What was written has gone then, and a stream that says nothing for a while
// has nothing to be late with: the deadline would end it all the same.
func (w *timedWriter) Flush() {
	w.extend()
	if w.control.Flush() == nil { // else the next write tells
		_ = w.control.SetWriteDeadline(time.Time{}) // it could be set just now
	}
}

// Unwrap lets http.ResponseController reach what this writer stands on.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
