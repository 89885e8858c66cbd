// Command audits measures what audits cost: k-means jobs of 400 leaves with `audit: 0` and with the default, in turn, on two and on
// four workers.
//
// Run it from the root of the repository, by `make bench-audits`.
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

	"github.com/gram-compute/gram/benchmarks/machine"
)

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	out := flag.String("out", filepath.Join("benchmarks", "results"), "`folder` for the results, in which the machine has its own")
	pairs := flag.Int("pairs", 5, "how many pairs of jobs to run on two workers, and on four")
	seconds := flag.Float64("seconds", 60, "how long a job without audits is to take, roughly")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, max(1, *pairs), *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "bench-audits:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, pairs int, seconds float64) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gram-bench-audits-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	points := filepath.Join(dir, "points.npy")
	if err := writePoints(points); err != nil {
		return err
	}
	p := page{machine: machine.Describe(), started: time.Now().UTC(), before: machine.Load()}
	for _, workers := range []int{2, 4} {
		found, err := runPairs(ctx, binary, filepath.Join(dir, fmt.Sprint("w", workers)), points, workers, pairs, seconds)
		if err != nil {
			return err
		}
		p.pairs = append(p.pairs, found...)
	}
	p.after, p.took = machine.Load(), time.Since(p.started)
	folder := filepath.Join(out, p.machine.Slug())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "audits.md"), p.markdown(), 0o644); err != nil {
		return err
	}
	met := 0
	for _, g := range p.goals() {
		fmt.Printf("%-10s %.4f, goal at most %.2f\n", g.name, g.measured, g.asked)
		if g.met() {
			met++
		}
	}
	fmt.Printf("bench-audits: %d goals, %d met\n", len(p.goals()), met)
	return nil
}

// pair is one job without audits and the same with the default, one soon after the other.
type pair struct {
	workers        int
	without, audit result
}

func (p pair) ratio() float64 { return p.audit.took.Seconds() / p.without.took.Seconds() }

// runPairs runs pairs of jobs; which of the two is first alternates. A job before them warms up and tells how many rounds take
// as long as is asked for.
func runPairs(ctx context.Context, binary, dir, points string, workers, pairs int, seconds float64) (found []pair, err error) {
	c, err := start(ctx, binary, dir, points, workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	const few = 5
	short, err := c.run(ctx, few, 0, "0")
	if err != nil {
		return nil, err
	}
	rounds := min(max(few, int(few*seconds/short.took.Seconds())), maxRounds)
	for n := range pairs {
		p := pair{workers: workers}
		run := func(audit string, into *result) {
			if err == nil {
				*into, err = c.run(ctx, rounds, n+1, audit)
			}
		}
		if n%2 == 0 {
			run("0", &p.without)
			run("0.01", &p.audit)
		} else {
			run("0.01", &p.audit)
			run("0", &p.without)
		}
		if err != nil {
			return nil, err
		}
		if p.audit.Model != p.without.Model || p.audit.Audit.Agreed != p.audit.Audit.Drawn || p.audit.Audit.Drawn == 0 || p.without.Audit.Drawn != 0 {
			return nil, fmt.Errorf("models %s and %s, audits %+v: these two are not the same work", p.without.Model, p.audit.Model, p.audit.Audit)
		}
		fmt.Printf("%d workers, pair %d: %6.2f s without, %6.2f s with audits, ratio %.4f; workers were at them %.2f%% of their time, the report waited %.2f s\n",
			workers, n+1, p.without.took.Seconds(), p.audit.took.Seconds(), p.ratio(), 100*p.audit.share(), p.audit.Audit.Waited)
		found = append(found, p)
	}
	return found, nil
}
