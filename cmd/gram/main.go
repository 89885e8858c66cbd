// Command gram is everything in one binary: the client, the coordinator, the worker and
// a cluster for a laptop. Data goes to stdout, all else to stderr; exit codes are in exit.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
	_ "time/tzdata" // for machines without a table of time zones

	"github.com/gram-compute/gram/cmd/gram/internal/command"
)

func main() {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // relative paths still work as far as the system lets them
	}
	interrupts := make(chan os.Signal, 2)
	os.Exit(run(context.Background(), (&app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, dir: dir, now: time.Now,
		interrupts: interrupts,
		catch: func() func() {
			signal.Notify(interrupts, os.Interrupt)
			return func() { signal.Stop(interrupts) }
		},
		patience: 10 * time.Second, pause: 100 * time.Millisecond, again: 2 * time.Second,
	}), os.Args[1:]))
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	out := &stickyWriter{w: a.out}
	a.out = out
	root := rootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write to stdout: %w", out.err)
	}
	if err != nil && !a.parsed {
		err = command.UsageError(err, root, args)
	}
	return a.report(err)
}
