// Command jobs measures whole jobs, and the loops that they spend their time in, beside scikit-learn in one
// run, interleaved, and writes a page about it.
//
// Run it from the root of the repository, by `make bench-jobs`; benchmarks/README.md says how
// to read what it writes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
)

// options are the flags.
type options struct {
	gram, mnist, out, peers, limits string
	only                            *regexp.Regexp
	seed                            uint64
	rounds                          int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse()
	if err == nil {
		err = everything(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-jobs:", err)
		os.Exit(1)
	}
}

func parse() (options, error) {
	var o options
	var only string
	flag.StringVar(&o.gram, "gram", "bin/gram", "the gram `binary`")
	flag.StringVar(&o.mnist, "mnist", "data/mnist", "`folder` of the pictures, filled by make data")
	flag.StringVar(&o.out, "out", "benchmarks/results", "`folder` for the results, in which the machine has its own")
	flag.StringVar(&o.peers, "peers", "benchmarks/peers", "`folder` of the peers, filled by its script install")
	flag.StringVar(&o.limits, "limits", "benchmarks/jobs/limits.md", "`file` that says what limits the goals not met")
	flag.StringVar(&only, "only", "", "run the workloads whose name matches this `expression`, and write no page")
	flag.Uint64Var(&o.seed, "seed", 7, "of the data")
	flag.IntVar(&o.rounds, "rounds", 5, "of each workload")
	flag.Parse()
	if flag.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if o.rounds < 1 {
		return o, errors.New("-rounds must be at least 1")
	}
	if only == "" {
		return o, nil
	}
	var err error
	o.only, err = regexp.Compile(only)
	return o, err
}

// everything measures it and tells what came out.
func everything(ctx context.Context, o options) error {
	p := page{Machine: machine.Describe(), Started: time.Now().UTC().Truncate(time.Second), Seed: o.seed}
	why, err := readLimits(o.limits, p.Machine.Slug())
	if err != nil {
		return err
	}
	results, err := oneCore(ctx, o, &p)
	if err != nil {
		return err
	}
	more, err := run(ctx, o, &p, 2)
	if err != nil {
		return err
	}
	p.Seconds = time.Since(p.Started).Seconds()
	p.add(append(results, more...), o.only, why)
	if o.only == nil {
		if err := p.write(filepath.Join(o.out, p.Machine.Slug())); err != nil {
			return err
		}
	}
	p.printGoals(os.Stdout)
	return nil
}

// oneCore runs the workloads of one thread on one processor: this thread, that of the
// peers, and one goroutine at a time.
func oneCore(ctx context.Context, o options, p *page) ([]result, error) {
	runtime.LockOSThread()
	undo, err := measure.BindLast()
	if err != nil {
		return nil, err
	}
	procs := runtime.GOMAXPROCS(1)
	results, err := run(ctx, o, p, 1)
	runtime.GOMAXPROCS(procs)
	runtime.UnlockOSThread()
	return results, errors.Join(err, undo())
}

// run measures every workload of a number of threads.
func run(ctx context.Context, o options, p *page, threads int) (results []result, err error) {
	others, err := peers.Start(o.peers, threads, p.Machine.Flags)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, others.Stop()) }()
	if others == nil {
		fmt.Println("The peers are not installed: run benchmarks/peers/install.")
	} else {
		p.Peers = others.Versions
	}
	for _, w := range workloads() {
		if w.threads != threads || o.only != nil && !o.only.MatchString(w.id) {
			continue
		}
		r, err := w.measure(ctx, env{o}, others)
		if err != nil {
			return nil, err
		}
		r.print(os.Stdout)
		results = append(results, r)
	}
	return results, nil
}
