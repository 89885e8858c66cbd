package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
)

func TestHealthOfAFile(t *testing.T) {
	c := newClient(t)
	file := filepath.Join(t.TempDir(), "alive")
	c.want(exit.Failed, c.run("health", "--file", file))
	if !strings.Contains(c.stdout.String(), "not touched yet") {
		t.Errorf("printed %q", c.stdout.String())
	}
	sign, err := local.NewLifeSign(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.want(0, c.run("health", "--file", file))
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	c.want(exit.Failed, c.run("health", "--file", file, "--within", "60s"))
	c.want(0, c.run("health", "--file", file, "--within", "1h"))
	sign.Touch()
	c.want(0, c.run("health", "--file", file))
	sign.End()
	c.want(exit.Failed, c.run("health", "--file", file))
	c.want(exit.Usage, c.run("health", "--file", file, "--within", "0s"))
}

// One of two is not ready; neither is shown a token.
func TestHealthOfCoordinators(t *testing.T) {
	ready := true
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		if !ready {
			http.Error(w, "no leader is known", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	c := newClient(t).to(server)
	host := strings.TrimPrefix(server.URL, "https://")
	c.want(0, c.run("health"))
	ready = false
	c.stdout.Reset()
	c.want(exit.Failed, c.run("health", "--addr", host, "-o", "json"))
	var got struct {
		Checks []healthView
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := healthView{What: host, Reason: "no leader is known (503 Service Unavailable)"}
	if len(got.Checks) != 1 || got.Checks[0] != want {
		t.Errorf("%+v, want %+v", got.Checks, want)
	}
	server.Close()
	c.want(exit.Failed, c.run("health", "--addr", host))
	c.want(exit.Usage, newClient(t).run("health"))
}
