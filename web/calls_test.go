package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// serve asks a handler through the process.
func serve(ctx context.Context, h http.HandlerFunc) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cluster/x", strings.NewReader("body"))
	if err != nil {
		return nil, err
	}
	return (&http.Client{Transport: inProcess{h, slog.New(slog.DiscardHandler)}}).Do(req)
}

func TestInProcess(t *testing.T) {
	res, err := serve(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Body", string(body))
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-Late", "is not sent")
		_, _ = io.WriteString(w, "tea")
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != "tea" || res.StatusCode != http.StatusTeapot ||
		res.Header.Get("X-Body") != "body" || res.Header.Get("X-Late") != "" {
		t.Errorf("%d %v %q, error %v", res.StatusCode, res.Header, text, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	res, err = serve(t.Context(), func(http.ResponseWriter, *http.Request) {})
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, error %v", res, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
}

// Closing the body ends the call, and waits for the handler.
func TestInProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		res, err := serve(t.Context(), func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			_, err := io.WriteString(w, "nobody reads this")
			ended = err != nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || !ended {
			t.Errorf("the handler has ended: %t; error %v", ended, err)
		}
	})
}

// A caller who gives up before the answer begins does not leave the handler behind.
func TestInProcessGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		go cancel()
		_, err := serve(ctx, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended = true
		})
		if !errors.Is(err, context.Canceled) || !ended {
			t.Errorf("error %v; the handler has ended: %t", err, ended)
		}
	})
}

// A handler that panics ends its answer alone.
func TestInProcessPanics(t *testing.T) {
	for _, cause := range []any{http.ErrAbortHandler, "a fault"} {
		for _, begins := range []bool{false, true} {
			res, err := serve(t.Context(), func(w http.ResponseWriter, _ *http.Request) {
				if begins {
					_, _ = io.WriteString(w, "half")
				}
				panic(cause)
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(res.Body); err == nil || !begins && res.StatusCode != http.StatusBadGateway {
				t.Errorf("%v, begun %t: %d, error %v", cause, begins, res.StatusCode, err)
			}
			if err := res.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
