package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

// impatient shortens what a person waits for.
func impatient(c *s3.Config) {
	c.HedgeAfter, c.FloorWindow = 50*time.Millisecond, 100*time.Millisecond
}

// drip sends the true reply a byte at a time, until the client has enough of it.
func (p *proxy) drip(w http.ResponseWriter, r *http.Request) {
	reply := httptest.NewRecorder()
	p.forward.ServeHTTP(reply, r)
	for name, values := range reply.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(reply.Code)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, b := range reply.Body.Bytes() {
		if _, err := w.Write([]byte{b}); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// hang answers nothing until the client goes.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that it goes
	<-r.Context().Done()
}

// Connections that drip or hang cost a little and no call, whatever the operation.
func TestDripsAndHangs(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", impatient)
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	put(t, s, "k", data)
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"drip": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				p.drip(w, r)
			} else {
				hang(r)
			}
		},
		"hang": func(_ http.ResponseWriter, r *http.Request) { hang(r) },
	} {
		t.Run(name, func(t *testing.T) {
			for op, call := range map[string]func(){
				"get":  func() { wantBytes(t, s, "k", data) },
				"put":  func() { put(t, s, "k", data) },
				"new":  func() { putNew(t, s, "new-"+name, data) },
				"stat": func() { statOf(t, s, "k") },
				"list": func() {
					for _, err := range s.List(t.Context(), "k") {
						if err != nil {
							t.Error(err)
						}
					}
				},
			} {
				p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
					if n > 2 {
						return false
					}
					fault(w, r)
					return true
				})
				call()
				if n := len(p.seen()); op != "list" && n < 3 {
					t.Errorf("%s: %d requests, of which two hang", op, n)
				}
			}
			p.breakWith(nil)
			wantBytes(t, s, "new-"+name, data)
		})
	}
}

func putNew(t *testing.T, s objstore.Store, key string, data []byte) {
	t.Helper()
	if _, err := objstore.PutNew(t.Context(), s, key, data); err != nil {
		t.Error(err)
	}
}

func statOf(t *testing.T, s objstore.Store, key string) {
	t.Helper()
	if _, err := s.Stat(t.Context(), key); err != nil {
		t.Error(err)
	}
}

// A store that drips on every connection fails the read, which is tried again elsewhere: it does not hold it for hours.
func TestEverythingDrips(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", impatient)
	put(t, s, "k", bytes.Repeat([]byte("0123456789"), 20_000))
	p.breakWith(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		p.drip(w, r)
		return true
	})
	_, _, err := objstore.ReadAll(t.Context(), s, "k", objstore.GetOptions{}, 1<<20)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "throughput floor") {
		t.Errorf("read to the end, or: %v", err)
	}
}

// A refusal may drip too. Then it is broken off and asked for again, and nobody waits for it a byte at a time.
func TestARefusalThatDrips(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", impatient)
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			<-tick.C
		}
		return true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, _, err := objstore.ReadAll(ctx, s, "k", objstore.GetOptions{}, 1<<20)
	if n := len(p.seen()); !errors.Is(err, objstore.ErrNotFound) || n != 2 {
		t.Errorf("%d requests: %v", n, err)
	}
}
