package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gram-compute/gram/kernelops"
	"github.com/spf13/cobra"
)

// logFlags say how a long-running role logs, on stderr.
type logFlags struct{ level, format string }

func (l *logFlags) add(cmd *cobra.Command, level string) {
	cmd.Flags().StringVar(&l.level, "log-level", level, "log from this `level`: debug, info, warn or error")
	cmd.Flags().StringVar(&l.format, "log-format", "text", "log as `format`: text or json")
}

func (l logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, &failure{code: exitUsage, what: fmt.Sprintf("--log-level %q is unknown; known: debug, info, warn, error", l.level)}
	}
	opt := &slog.HandlerOptions{Level: level}
	switch l.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opt)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return nil, &failure{code: exitUsage, what: fmt.Sprintf("--log-format %q is unknown; known: text, json", l.format)}
}

// untilStopped ends its context at SIGTERM or Ctrl-C; a second one ends the process at once.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// untilClosed ends its context when r does: a child outlives its parent no longer
// than a pipe between them.
func untilClosed(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the pipe, at the latest with the process
		defer cancel()
		_, _ = io.Copy(io.Discard, r) // an error is an end as well
	}()
	return ctx, cancel
}

// stopTimeout bounds how long a role may take to stop serving.
const stopTimeout = 10 * time.Second

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// maxCount bounds slots and workers: far more than a machine has CPUs for, far less than
// what only fails when memory or the coordinator refuses it.
const maxCount = 4096

// checkCount refuses a number of slots or workers that no machine has.
func checkCount(flag string, n int) error {
	if n >= 0 && n <= maxCount {
		return nil
	}
	return &failure{code: exitUsage, what: fmt.Sprintf("--%s %d is not in the range 0 to %d", flag, n, maxCount)}
}

// kernels picks the kernel set: by flag, by GRAM_KERNELS, or the best.
func (a *app) kernels(name string) (*kernelops.Set, error) {
	ops, err := kernelops.Choose(name)
	if err != nil {
		return nil, &failure{code: exitUsage, what: fmt.Sprint(err)}
	}
	return ops, nil
}
