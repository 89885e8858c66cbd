// Command field lets Gram and the tools that a user would take instead do the same whole jobs from the same files on
// this machine, in one interleaved run. It writes a page with times, memory, lines to write, the quality reached, and
// the number of different models that each makes of one table.
//
// Run it from the root of the repository, by `make bench-field`; benchmarks/README.md says how to read what it writes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

// options are the flags.
type options struct {
	gram, data, out, tools, size, counted string
	only, tool                            *regexp.Regexp
	runs, rounds                          int
	timed, resume, page                   bool
	limit                                 time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse()
	if err == nil {
		err = everything(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-field:", err)
		os.Exit(1)
	}
}

func parse() (options, error) {
	var o options
	var only, tool string
	flag.StringVar(&o.gram, "gram", "bin/gram", "the gram `binary`")
	flag.StringVar(&o.data, "data", "data/field", "`folder` of the files, and of the tools' venv, filled by install")
	flag.StringVar(&o.out, "out", "benchmarks/results", "`folder` for the results, in which the machine has its own")
	flag.StringVar(&o.tools, "tools", "benchmarks/field", "`folder` of the programs that a user writes")
	flag.StringVar(&o.size, "size", "large", "of the jobs: small or large")
	flag.StringVar(&o.counted, "counted", "small", "`size` of the jobs whose models are counted in every setting")
	flag.StringVar(&only, "only", "", "run the jobs whose name matches this `expression`, and write no page")
	flag.IntVar(&o.runs, "runs", 0, "of each tool in each setting, whose models are counted (default 3; 1 if -size small)")
	flag.IntVar(&o.rounds, "rounds", 0, "of the setting that is timed (default 5; 3 if -size small)")
	flag.BoolVar(&o.timed, "timed", false, "run the setting that is timed alone, and write no page")
	flag.BoolVar(&o.resume, "resume", false, "go on with the last run of that size, which ended early")
	flag.StringVar(&tool, "tool", "", "run the tools whose name matches this `expression`, and write no page")
	flag.BoolVar(&o.page, "page", false, "with -resume, write the page of what has been run, and run nothing")
	flag.DurationVar(&o.limit, "for", 0, "end early after this `time`; -resume goes on")
	flag.Parse()
	if flag.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	for name, size := range map[string]string{"size": o.size, "counted": o.counted} {
		if size != "small" && size != "large" {
			return o, fmt.Errorf("-%s %q is neither small nor large", name, size)
		}
	}
	if o.runs == 0 {
		o.runs = map[string]int{"small": 1, "large": 3}[o.size]
	}
	if o.rounds == 0 {
		o.rounds = o.runs + 2
	}
	if o.runs < 1 || o.rounds < 1 {
		return o, errors.New("-runs and -rounds must be at least 1")
	}
	var err, err2 error
	if only != "" {
		o.only, err = regexp.Compile(only)
	}
	if tool != "" {
		o.tool, err2 = regexp.Compile(tool)
	}
	return o, errors.Join(err, err2)
}

// everything makes the files, runs the jobs and writes the page.
func everything(ctx context.Context, o options) (err error) {
	f, err := newField(o)
	if err != nil {
		return err
	}
	p := &page{Run: pages.Begin(), Size: o.size, Counted: o.counted, Rounds: o.rounds, Runs: o.runs}
	if p.Versions, err = f.versions(ctx); err != nil {
		return err
	}
	for _, size := range []string{o.size, o.counted} { // what is there is not made again
		make := exec.CommandContext(ctx, f.python, "-B", filepath.Join(o.tools, "data.py"), size, f.files(size))
		make.Stderr = os.Stderr
		if err := make.Run(); err != nil {
			return fmt.Errorf("make the files: %w", err)
		}
	}
	if o.resume {
		if err := p.restore(f.state()); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
	}
	if err := f.run(ctx, p); err != nil {
		return err
	}
	p.End()
	p.print(os.Stdout)
	if !o.page && (o.only != nil || o.tool != nil || o.timed) {
		return nil
	}
	return p.publish(o.out)
}
