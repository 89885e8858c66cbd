// Command gram is everything in one binary: the client, the coordinator, the worker and
// a cluster for a laptop. Data goes to stdout, all else to stderr; exit codes are in exit.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
	_ "time/tzdata" // for machines without a table of time zones

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
)

// version is set by the linker.
var version string

func main() {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // relative paths still work as far as the system lets them
	}
	interrupts := make(chan os.Signal, 2)
	os.Exit((&app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, dir: dir, now: time.Now,
		interrupts: interrupts,
		catch: func() func() {
			signal.Notify(interrupts, os.Interrupt)
			return func() { signal.Stop(interrupts) }
		},
		patience: 10 * time.Second, pause: 100 * time.Millisecond, again: 2 * time.Second,
	}).run(context.Background(), os.Args[1:]))
}

// app is what verbs may touch of the world, so that tests can stand in for it.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	dir      string // working directory
	now      func() time.Time

	interrupts <-chan os.Signal
	catch      func() func() // starts to deliver interrupts; its result ends that

	patience time.Duration // how long a cluster may stay unreachable before the first answer
	pause    time.Duration // before the first repetition of a call
	again    time.Duration // how long a second Ctrl-C has its own meaning

	flags  flags
	parsed bool // the command line was understood; errors from here on are not usage errors
}

// run is main without the process: it returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	out := &stickyWriter{w: a.out}
	a.out = out
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write to stdout: %w", out.err)
	}
	if err != nil && !a.parsed {
		err = usageError(err, root, args)
	}
	return a.report(err)
}

// report prints an error, in up to three lines: what, why, what to do.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	f := explain(err)
	palette := a.palette(a.err)
	fmt.Fprintf(a.err, "%s %s\n", palette.Bad("gram:"), protocol.VisibleLines(f.what)) // it may quote a label
	if f.why != nil {
		fmt.Fprintf(a.err, "  %s\n", protocol.VisibleLines(f.why.Error()))
	}
	if f.hint != "" {
		fmt.Fprintf(a.err, "  %s\n", protocol.VisibleLines(f.hint))
	}
	return f.code
}

// palette decides on colour for one of the two streams.
func (a *app) palette(stream io.Writer) terminal.Palette {
	choice := a.flags.color
	if choice == "" {
		choice = "auto"
	}
	if sticky, ok := stream.(*stickyWriter); ok {
		stream = sticky.w
	}
	return terminal.Palette{On: terminal.UseColor(choice, a.getenv, terminal.IsTerminal(stream))}
}

// note prints a line for people.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.err, protocol.VisibleLines(fmt.Sprintf(format, args...)))
}

// stickyWriter keeps the first error, so that data that could not be written fails the command.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}
