// Command control measures the control plane: how many nodes a coordinator commits in a second for workers whose tasks
// take no time, how long its leases take, and what an idle cluster of three takes of a processor.
//
// Run it from the root of the repository, by `make bench-control`.
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

// load is what the coordinator is given to do.
type load struct {
	workers, slots       int
	leaves, rounds, jobs int
}

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	out := flag.String("out", filepath.Join("benchmarks", "results"),
		"`folder` for the results, in which the machine has its own; empty writes none")
	var l load
	flag.IntVar(&l.workers, "workers", 1000, "how many workers, each over a TLS connection of its own")
	flag.IntVar(&l.slots, "slots", 4, "tasks that a worker takes at a time")
	flag.IntVar(&l.leaves, "leaves", 100_000, "leaves of each round of a job")
	flag.IntVar(&l.rounds, "rounds", 1, "rounds of a job")
	flag.IntVar(&l.jobs, "jobs", 5, "how many jobs to run, one at a time; 0 runs none")
	idle := flag.Duration("idle", time.Minute, "how long to watch an idle cluster of three; 0 starts none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, l, *idle); err != nil {
		fmt.Fprintln(os.Stderr, "bench-control:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, l load, idle time.Duration) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "gram-control-*")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = os.RemoveAll(home)
		} else {
			err = fmt.Errorf("%w (the coordinators' logs are in %s)", err, home)
		}
	}()
	p := page{Run: pages.Begin(), load: l, idleFor: idle}
	if l.jobs > 0 {
		if p.jobs, err = busy(ctx, binary, filepath.Join(home, "busy"), l); err != nil {
			return err
		}
	}
	if idle > 0 {
		if p.idle, err = watchIdle(ctx, binary, filepath.Join(home, "idle"), idle); err != nil {
			return err
		}
	}
	p.End()
	fmt.Print(p.summary())
	if out == "" {
		return nil
	}
	return p.Publish(out, "control.md", p.markdown())
}

// busy runs jobs on one coordinator, one at a time.
func busy(ctx context.Context, binary, home string, l load) (found []result, err error) {
	q, err := start(ctx, binary, home, 1)
	defer q.stop()
	if err != nil {
		return nil, err
	}
	f, err := enlist(ctx, q, l)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.dismiss()) }()
	for n := range l.jobs {
		r, err := f.runJob(ctx, n)
		if err != nil {
			return nil, err
		}
		fmt.Println(r)
		found = append(found, r)
	}
	return found, nil
}
