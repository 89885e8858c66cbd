// Command kernels measures the operations of kernelops, the limits of the machine and
// what a user would run instead, in one run and interleaved, and writes a page about it.
//
// Run it from the root of the repository, by `make bench-kernels`; benchmarks/README.md says how
// to read what it writes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"github.com/gram-compute/gram/internal/limits"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/machine"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops"
)

// options are the flags.
type options struct {
	out, peers, limits string
	only               *regexp.Regexp
	seed               uint64
	seconds            float64
	rounds             int
	allCores           bool
}

func main() {
	o, err := parse()
	if err == nil {
		err = everything(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-kernels:", err)
		os.Exit(1)
	}
}

func parse() (options, error) {
	var o options
	var only string
	flag.StringVar(&o.out, "out", "benchmarks/results", "`folder` for the results, in which the machine has its own")
	flag.StringVar(&o.peers, "peers", "benchmarks/peers", "`folder` of the peers, filled by its script install")
	flag.StringVar(&o.limits, "limits", "benchmarks/kernels/limits.md",
		"`file` that says what limits the goals not met")
	flag.StringVar(&only, "only", "", "run the workloads whose name matches this `expression`, and write no page")
	flag.Uint64Var(&o.seed, "seed", 7, "of the data")
	flag.Float64Var(&o.seconds, "seconds", 8, "to measure each workload for, at the least -rounds")
	flag.IntVar(&o.rounds, "rounds", 5, "at the least, for each workload")
	flag.BoolVar(&o.allCores, "all-cores", true, "measure on all cores, too")
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
func everything(o options) error {
	page := page{Machine: machine.Describe(), Started: time.Now().UTC().Truncate(time.Second), Seed: o.seed}
	results, err := oneCore(o, &page)
	if err != nil {
		return err
	}
	if o.allCores && runtime.NumCPU() > 1 {
		more, err := run(o, &page, runtime.NumCPU())
		if err != nil {
			return err
		}
		results = append(results, more...)
	}
	page.Seconds = time.Since(page.Started).Seconds()
	why, err := readLimits(o.limits, page.Machine.Slug())
	if err != nil {
		return err
	}
	page.add(results, judge(results, asked(o.only)), why)
	if o.only == nil {
		if err := page.write(filepath.Join(o.out, page.Machine.Slug())); err != nil {
			return err
		}
	}
	page.printGoals(os.Stdout)
	return nil
}

// asked are the goals of the workloads that are run.
func asked(only *regexp.Regexp) []goal {
	return slices.DeleteFunc(goals(), func(g goal) bool { return only != nil && !only.MatchString(g.workload) })
}

// oneCore runs the workloads on one processor: this thread, that of the peers, and one
// goroutine at a time.
func oneCore(o options, p *page) ([]result, error) {
	runtime.LockOSThread()
	undo, err := measure.BindLast()
	if err != nil {
		return nil, err
	}
	procs := runtime.GOMAXPROCS(1)
	results, err := run(o, p, 1)
	runtime.GOMAXPROCS(procs)
	runtime.UnlockOSThread()
	return results, errors.Join(err, undo())
}

// run measures every workload on a number of threads.
func run(o options, p *page, threads int) (results []result, err error) {
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
	e := env{seed: o.seed, threads: threads, sets: kernelops.All()[1:]} // the generic set comes first, and enters alone
	for _, w := range workloads() {
		if o.only != nil && !o.only.MatchString(w.id) || threads > 1 && w.serial {
			continue
		}
		r, err := w.measure(e, others, o.pace(w, threads))
		if err != nil {
			return nil, err
		}
		r.print(os.Stdout)
		results = append(results, r)
	}
	return results, nil
}

// pace gives what no goal is about, and the table of all cores, less time.
func (o options) pace(w workload, threads int) pace {
	seconds := o.seconds
	if w.point || w.short || threads > 1 {
		seconds /= 2
	}
	return pace{
		budget:    time.Duration(seconds * float64(time.Second)),
		minRounds: o.rounds,
		maxRounds: 41,
		minSample: 25 * time.Millisecond,
	}
}

// measure brings the contenders of a workload together and lets them race.
func (w workload) measure(e env, others *peers.Process, p pace) (result, error) {
	e.memory = new(limits.Memory)
	contenders := w.entrant(e)
	more, err := rivals(others, w.id, e.seed)
	if err != nil {
		return result{}, err
	}
	contenders = append(contenders, more...)
	contenders = append(contenders, w.limits.contenders(e)...)
	r, err := race(w, e.threads, contenders, p)
	return r, errors.Join(err, others.Drop(), e.memory.Free())
}

// rivals are the peers that do a workload.
func rivals(others *peers.Process, workload string, seed uint64) ([]contender, error) {
	names, err := others.Prepare(workload, seed)
	var all []contender
	for _, name := range names {
		all = append(all, contender{name: name,
			run: func(times int) (measure.Sample, error) { return others.Run(name, times) }})
	}
	return all, err
}
