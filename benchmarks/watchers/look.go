package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pageTime is how long a page took, from the request to the last byte.
type pageTime struct {
	path   string
	took   []time.Duration // ascending
	bytes  int64
	leader time.Duration // of a processor of the leader, for one page
}

// quantile is by nearest rank.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (t pageTime) String() string {
	return fmt.Sprintf("%-34s p50 %6.1f ms, p99 %6.1f ms, %d bytes, %.1f ms of a processor", t.path,
		ms(quantile(t.took, 0.5)), ms(quantile(t.took, 0.99)), t.bytes, ms(t.leader))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ask asks for a page of somebody who is logged in.
func (m *member) ask(ctx context.Context, client *http.Client, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.address+path, nil)
	if err != nil {
		return nil, err
	}
	req.AddCookie(&http.Cookie{Name: "__Host-gram", Value: m.cookie})
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("%s: %s", path, res.Status)
	}
	return res, nil
}

// timePage asks for a page again and again, over one connection.
func (m *member) timePage(ctx context.Context, path string, times int) (t pageTime, err error) {
	t.path = path
	before, err := m.spent()
	if err != nil {
		return t, err
	}
	for range times {
		began := time.Now()
		res, err := m.ask(ctx, m.client, path)
		if err != nil {
			return t, err
		}
		t.bytes, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil {
			return t, fmt.Errorf("%s: %w", path, err)
		}
		t.took = append(t.took, time.Since(began))
	}
	after, err := m.spent()
	slices.Sort(t.took)
	t.leader = (after - before) / time.Duration(max(1, times))
	return t, err
}

// group is watchers that look at the same time.
type group struct {
	name  string
	paths []string // of the streams, one for each watcher
	goal  float64  // of a core
}

// groups are those measured. The first has nobody: it is what the cluster takes anyway.
func groups() []group {
	repeat := func(n int, paths ...string) (all []string) {
		for i := range n {
			all = append(all, paths[i%len(paths)])
		}
		return all
	}
	lists := []string{"/live/jobs", "/live/jobs?state=active", "/live/jobs?state=running",
		"/live/jobs?name=1&sort=took", "/live/jobs?sort=name", "/live/jobs?state=cancelled", "/live/cluster"}
	return []group{
		{name: "nobody"},
		{"10 watchers of the job with its leaves", repeat(10, "/jobs/"+liveJob+"/live"), 0.02},
		{"100 watchers of 7 views of lists and the cluster", repeat(100, lists...), 0},
		{"200 watchers: 150 of these views, 50 of the job",
			append(repeat(150, lists...), repeat(50, "/jobs/"+liveJob+"/live")...), 0.10},
		{name: "nobody again"},
	}
}

// watched is what a group cost.
type watched struct {
	group
	share  float64 // of a core, of the leader
	pieces int64
	bytes  int64
}

func (w watched) String() string {
	return fmt.Sprintf("%-50s %6.2f %% of a core, %d pieces, %d bytes", w.name, 100*w.share, w.pieces, w.bytes)
}

// settling is how long watchers look before it counts: the first pieces are of no interest.
const settling = 3 * time.Second

// watch has a group look, and measures what the leader takes meanwhile.
func (m *member) watch(ctx context.Context, g group, long time.Duration) (w watched, err error) {
	w.group = g
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel()
	var pieces, bytes, gone atomic.Int64
	for _, path := range g.paths {
		client, _, err := m.home.Client(patience) // each watcher is another browser, with its own connection
		if err != nil {
			return w, err
		}
		looking.Go(func() {
			defer client.CloseIdleConnections()
			if m.look(ctx, client, path, &pieces, &bytes); ctx.Err() == nil {
				gone.Add(1)
			}
		})
	}
	if err := pause(ctx, settling); err != nil {
		return w, err
	}
	pieces.Store(0)
	bytes.Store(0)
	before, err := m.spent()
	if err != nil {
		return w, err
	}
	began := time.Now()
	if err := pause(ctx, long); err != nil {
		return w, err
	}
	after, err := m.spent()
	w.share = (after - before).Seconds() / time.Since(began).Seconds()
	w.pieces, w.bytes = pieces.Load(), bytes.Load()
	if n := gone.Load(); n > 0 {
		return w, fmt.Errorf("%s: the streams of %d watchers ended", g.name, n)
	}
	return w, err
}

// look reads a stream until it ends.
func (m *member) look(ctx context.Context, client *http.Client, path string, pieces, bytes *atomic.Int64) {
	res, err := m.ask(ctx, client, path)
	if err != nil {
		return
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: piece") {
			pieces.Add(1)
		}
		bytes.Add(int64(len(lines.Bytes())) + 1)
	}
}
