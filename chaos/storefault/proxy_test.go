package storefault_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gram-compute/gram/chaos/storefault"
)

// body is what the server answers to a GET.
var body = bytes.Repeat([]byte("0123456789"), 1000)

// before is a proxy before a server that counts its PUTs.
func before(t *testing.T) (url string, p *storefault.Proxy, puts *atomic.Int64) {
	t.Helper()
	puts = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			if got, err := io.ReadAll(r.Body); err == nil && string(got) == "data" {
				puts.Add(1)
			}
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body) // the proxy may have gone
	}))
	t.Cleanup(server.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	p, err = storefault.Start(free.Addr().String(), strings.TrimPrefix(server.URL, "http://"), "/gram/cluster/", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + free.Addr().String(), p, puts
}

// answer is what a client makes of one request.
type answer struct {
	status int // 0: no answer
	whole  bool
	got    int
}

func request(t *testing.T, method, url, text string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.GetBody = nil // the client must not try again by itself
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, whole: err == nil, got: len(got)}
}

func TestFaults(t *testing.T) {
	url, p, puts := before(t)
	for _, c := range []struct {
		fault    storefault.Fault
		get, put answer
		puts     int64 // that reach the server
	}{
		{"", answer{200, true, len(body)}, answer{200, true, 0}, 1},
		{storefault.SlowDown, answer{503, true, 125}, answer{503, true, 125}, 0},
		{storefault.Outage, answer{}, answer{}, 0},
		{storefault.Reset, answer{200, false, -1}, answer{200, true, 0}, 1},
		{storefault.ShortRead, answer{200, false, len(body) / 2}, answer{200, true, 0}, 1},
		{storefault.LostReply, answer{200, true, len(body)}, answer{}, 1},
		{storefault.LostPut, answer{200, true, len(body)}, answer{}, 0},
		{storefault.Twice, answer{200, true, len(body)}, answer{200, true, 0}, 2},
	} {
		p.Set(c.fault, 1)
		puts.Store(0)
		get, put := request(t, http.MethodGet, url, ""), request(t, http.MethodPut, url, "data")
		if c.get.got == -1 && get.got <= len(body)/2 { // a reset may overtake bytes
			get.got = -1
		}
		if get != c.get || put != c.put || puts.Load() != c.puts {
			t.Errorf("%q: GET %+v, PUT %+v, %d at the server; want %+v, %+v, %d", c.fault, get, put, puts.Load(), c.get,
				c.put, c.puts)
		}
		if n := p.Counts()[c.fault]; c.fault != "" && n == 0 {
			t.Errorf("%q is not counted", c.fault)
		}
	}
	p.Set("", 0)
	if got := request(t, http.MethodGet, url, ""); !got.whole || got.got != len(body) {
		t.Errorf("healed: %+v", got)
	}
}

// Faults of the cluster's own objects: they befall a result of a task, which its digest names, and no other object.
func TestOwnFaults(t *testing.T) {
	url, p, puts := before(t)
	result := "/gram/cluster/jobs/a/ab/" + strings.Repeat("ab", 32) + "-3"
	for _, c := range []struct {
		fault    storefault.Fault
		path     string
		get, put answer
		puts     int64
	}{
		{storefault.Denied, result, answer{403, true, -1}, answer{403, true, -1}, 0},
		{storefault.Denied, "/gram/cluster/other", answer{403, true, -1}, answer{403, true, -1}, 0},
		{storefault.Denied, "/gram/input/iris.csv", answer{200, true, len(body)}, answer{200, true, 0}, 1},
		{storefault.Vanish, result, answer{200, true, len(body)}, answer{200, true, 0}, 0},
		{storefault.Vanish, "/gram/cluster/other", answer{200, true, len(body)}, answer{200, true, 0}, 1},
		{storefault.Flipped, result, answer{200, true, len(body)}, answer{200, true, 0}, 1},
	} {
		p.Set(c.fault, 1)
		puts.Store(0)
		get, put := request(t, http.MethodGet, url+c.path, ""), request(t, http.MethodPut, url+c.path, "data")
		if c.get.got == -1 {
			get.got, put.got = -1, -1
		}
		if get != c.get || put != c.put || puts.Load() != c.puts {
			t.Errorf("%q of %s: GET %+v, PUT %+v, %d at the server; want %+v, %+v, %d", c.fault, c.path, get, put,
				puts.Load(), c.get, c.put, c.puts)
		}
	}
	p.Set(storefault.Flipped, 1)
	res, err := http.Get(url + result)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || len(got) != len(body) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	wrong := 0
	for i := range got {
		wrong += bits.OnesCount8(got[i] ^ body[i])
	}
	if wrong != 1 {
		t.Errorf("%d bits are wrong, want 1", wrong)
	}
}

// A dripping answer sends some bytes and goes on, until the client leaves.
func TestDrip(t *testing.T) {
	url, p, _ := before(t)
	p.Set(storefault.Drip, 1)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/gram/cluster/jobs/a/ab/"+strings.Repeat("ab", 32)+
		"-3", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, 2)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "01" {
		t.Errorf("the first bytes: %q, %v", first, err)
	}
	leave()
	if n, err := io.Copy(io.Discard, res.Body); err == nil || n > 100 {
		t.Errorf("%d more bytes and %v", n, err)
	}
}

// TestShare: a fault befalls about its share of requests, the same ones under the same seed.
func TestShare(t *testing.T) {
	url, p, _ := before(t)
	p.Set(storefault.SlowDown, 0.3)
	for range 200 {
		request(t, http.MethodGet, url, "")
	}
	if n := p.Counts()[storefault.SlowDown]; n < 30 || n > 90 {
		t.Errorf("%d of 200 requests, want about 60", n)
	}
}
