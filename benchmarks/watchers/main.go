// Command watchers measures the live pages: how long a page takes with 10,000 jobs and 1,000 workers, when a browser
// paints it first, and what those who look cost the leader.
//
// Run it from the root of the repository, by `make bench-pages`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

// load is what the coordinator has, and who looks at it.
type load struct {
	jobs, active    int // all jobs, and those of them that have not ended
	workers, leaves int
	asks, paints    int // how often a page is asked for, and painted
	watched         time.Duration
	rate            int // leaves a second of the live job
}

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	out := flag.String("out", filepath.Join("benchmarks", "results"),
		"`folder` for the results, in which the machine has its own; empty writes none")
	browser := flag.String("chromium", "chromium", "the `browser` that paints; empty measures no paint")
	var l load
	flag.IntVar(&l.jobs, "jobs", 10_000, "jobs that the cluster knows")
	flag.IntVar(&l.active, "active", 900, "jobs that have not ended, at most 1,000")
	flag.IntVar(&l.workers, "workers", 1000, "workers that are registered and send heartbeats")
	flag.IntVar(&l.leaves, "leaves", 1_000_000, "leaves of the job that is watched")
	flag.IntVar(&l.rate, "rate", 200, "leaves of it that are done in a second")
	flag.IntVar(&l.asks, "asks", 200, "how often each page is asked for")
	flag.IntVar(&l.paints, "paints", 20, "how often a browser loads each page")
	flag.DurationVar(&l.watched, "watched", 20*time.Second, "how long each group of watchers looks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, *browser, l); err != nil {
		fmt.Fprintln(os.Stderr, "bench-pages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, browser string, l load) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "gram-watchers-*")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = os.RemoveAll(home)
		} else {
			err = fmt.Errorf("%w (the coordinator's log is in %s)", err, home)
		}
	}()
	p := page{Run: pages.Begin(), load: l}
	m, err := start(ctx, binary, home)
	defer m.stop()
	if err != nil {
		return err
	}
	f, err := fill(ctx, m, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.dismiss()) }()
	if err := m.settle(ctx, l.jobs-l.active); err != nil {
		return err
	}
	if err := p.measure(ctx, m, home, browser); err != nil {
		return err
	}
	p.End()
	fmt.Print(p.summary())
	if out == "" {
		return nil
	}
	return p.Publish(out, "pages.md", p.markdown())
}

// measure takes the figures of the page.
func (p *page) measure(ctx context.Context, m *member, home, browser string) (err error) {
	for _, path := range []string{"/jobs", "/jobs?name=job-1&sort=took", "/jobs?state=active&sort=state", "/cluster",
		"/jobs/" + liveJob} {
		t, err := m.timePage(ctx, path, p.load.asks)
		if err != nil {
			return err
		}
		p.times = append(p.times, t)
		fmt.Println(t)
	}
	if browser != "" {
		p.paints, err = paint(ctx, m, browser, home, p.load.paints, "/jobs", "/cluster", "/jobs/"+liveJob)
		if err != nil {
			return err
		}
	}
	for _, group := range groups() {
		w, err := m.watch(ctx, group, p.load.watched)
		if err != nil {
			return err
		}
		p.watches = append(p.watches, w)
		fmt.Println(w)
	}
	return nil
}
