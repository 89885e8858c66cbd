package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

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

// report prints an error, in up to three lines: what, why, what to do.
func (a *app) report(err error) int {
	if err == nil {
		return exit.OK
	}
	f := exit.Of(err)
	palette := a.palette(a.err)
	fmt.Fprintf(a.err, "%s %s\n", palette.Bad("gram:"), protocol.VisibleLines(f.What)) // it may quote a label
	if f.Why != nil {
		why := protocol.VisibleLines(f.Why.Error())
		if terminal.IsTerminal(a.err) { // elsewhere a line is searched, or another program's to break
			why = terminal.Wrap(why, terminal.Columns-2)
		}
		fmt.Fprintf(a.err, "  %s\n", why)
	}
	if f.Hint != "" {
		fmt.Fprintf(a.err, "  %s\n", protocol.VisibleLines(f.Hint))
	}
	return f.Code
}

// palette decides on color for one of the two streams.
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

// note prints a line for people, unless they want none.
func (a *app) note(format string, args ...any) {
	if a.flags.quiet {
		return
	}
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

// printJSON prints one value, indented, for people's pipes.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printLine prints one value as one line.
func (a *app) printLine(v any) error {
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// onTerminal reports whether stdout is a terminal.
func (a *app) onTerminal() bool {
	out := a.out
	if sticky, ok := out.(*stickyWriter); ok {
		out = sticky.w
	}
	return terminal.IsTerminal(out)
}

// folder is the URI of a folder that the command line names, ending in "/".
func (a *app) folder(from string) string {
	return strings.TrimRight(specfile.AbsoluteURI(from, a.dir), "/") + "/"
}

// storeURI is a store as a person names it; a path counts from the working directory.
func (a *app) storeURI(uri string) string {
	return strings.TrimSuffix(specfile.AbsoluteURI(uri, a.dir), "/")
}

// instant reads a day or an instant, in UTC without an offset; "" is now.
func (a *app) instant(flag, text string) (time.Time, error) {
	if text == "" {
		return a.now(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("%s %q is no instant", flag, text),
		Hint: "Write 2026-11-21T02:15:00Z, or 2026-11-21 for its midnight in UTC."}
}

// printer shows progress on stderr; a bar only for a single job.
func (a *app) printer(single bool) *terminal.Printer {
	return &terminal.Printer{
		W: a.err, Terminal: single && terminal.IsTerminal(a.err) && a.getenv("TERM") != "dumb",
		Columns: func() int { return terminal.Width(a.err) }, Now: a.now,
	}
}

// connect makes the clients of the configured cluster; it sends nothing yet.
func (a *app) connect() (*client.Cluster, error) { return client.Dial(a.options()) }

// options are how the flags and the configuration reach the cluster.
func (a *app) options() client.Options {
	return client.Options{Config: a.flags.config, Cert: a.flags.cert, Key: a.flags.key,
		Warn: func(text string) { a.note("gram: warning: %s", text) }}
}

// link keeps a conversation with the cluster up, and tells people when it breaks off.
func (a *app) link() *client.Link {
	return client.NewLink(a.patience, a.pause, func(text string) { a.note("gram: %s", text) })
}

// within is a path of the command line, which counts from the working directory.
func (a *app) within(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// shellQuote makes one word of a text for a POSIX shell.
func shellQuote(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+:,@", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// storeUsage is of a flag for verbs that can do without the cluster.
const storeUsage = "read from the cluster's object store at this `URI`, without the cluster"

// confirm asks on a terminal before something goes for good; --yes is the answer beforehand. Without a terminal
// there is nobody to ask: with always, --yes is then demanded, and else the verb goes on.
func (a *app) confirm(cmd *cobra.Command, what string, always bool) error {
	if yes, err := cmd.Flags().GetBool("yes"); err != nil || yes {
		return err
	}
	if !terminal.IsTerminal(a.in) {
		if !always {
			return nil
		}
		return &exit.Failure{Code: exit.Usage, What: what + ": nobody is asked, since stdin is not a terminal",
			Hint: fmt.Sprintf("`%s --yes` goes on without the question.", cmd.CommandPath())}
	}
	fmt.Fprintf(a.err, "%s. Go on? [y/N] ", terminal.Clean(what))
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return &exit.Failure{Code: exit.Failed, What: "nothing was changed"}
}
