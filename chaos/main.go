// Command chaos runs a cluster of real processes, breaks them, their network and their store by a
// plan drawn from a seed, lets clients work meanwhile, and judges what they saw and what was left.
//
//	go run ./chaos -minutes 5            # make chaos
//	go run ./chaos -minutes 5 -seed 42   # the same plan of faults again
//
// The exit code is 0 when every invariant was tested and held, 1 when one was violated, and 2 when
// the run could not be made.
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gram-compute/gram/chaos/nemesis"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// settings are what the flags say.
type settings struct {
	minutes         float64
	seed            uint64
	loopback        bool
	gram, versitygw string
	testdata        string
	folder          string
	workers         int
	clients         int
	active          int
	keep            time.Duration
	lasting         bool
	bug             string
	limit           time.Duration
	faults          bool // the binary is built with -tags faults
	aim
}

func run(ctx context.Context, args []string) int {
	s, err := parse(args)
	if err != nil {
		return 2 // it is said already
	}
	well := false
	if s.bug != "" {
		well, err = hunt(ctx, s)
	} else {
		s.aim = everything()
		if s.lasting {
			s.kinds = nemesis.Lasting()
		}
		var o *outcome
		if o, err = once(ctx, s); err == nil {
			well = !violated(o)
		}
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 2
	case !well:
		return 1
	}
	return 0
}

// parse reads the flags, and draws a seed where none is given.
func parse(args []string) (s settings, err error) {
	set := flag.NewFlagSet("chaos", flag.ContinueOnError)
	set.Float64Var(&s.minutes, "minutes", 5, "how long faults are done")
	set.Uint64Var(&s.seed, "seed", 0, "of the plan of faults and of what clients do; 0 draws one")
	set.BoolVar(&s.loopback, "loopback", false, "no network namespaces, and so no partitions")
	set.StringVar(&s.gram, "gram", "bin/gram", "the binary under test")
	set.BoolVar(&s.faults, "faults", false, "the binary is built with -tags faults: clocks go wrong and workers lie")
	set.StringVar(&s.versitygw, "versitygw", "bin/versitygw", "the S3 server")
	set.StringVar(&s.testdata, "testdata", "testdata", "the repository's testdata")
	set.StringVar(&s.folder, "folder", "", "keep everything here (default a temporary one, kept only on violations)")
	set.IntVar(&s.workers, "workers", 3, "worker processes")
	set.IntVar(&s.clients, "clients", 6, "clients")
	set.IntVar(&s.active, "active", 8, "jobs at a time")
	set.DurationVar(&s.keep, "keep", 4*time.Minute, "how long the cluster keeps jobs that have ended")
	set.BoolVar(&s.lasting, "lasting", false,
		"no faults that end a process: its memory and descriptors show what it accumulates")
	set.StringVar(&s.bug, "bug", "", "catch the bug of this name, or all, in the binary that make chaos-bugs builds")
	set.DurationVar(&s.limit, "bug-limit", 3*time.Minute, "how long a bug may stay uncaught")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if s.keep < leastKeep {
		err := fmt.Errorf("-keep is at least %v: clients ask for jobs for half of that time", leastKeep)
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return s, err
	}
	if s.seed == 0 {
		var drawn [4]byte
		_, _ = rand.Read(drawn[:]) // never fails
		s.seed = uint64(binary.LittleEndian.Uint32(drawn[:]))
	}
	return s, nil
}
