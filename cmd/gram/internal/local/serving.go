package local

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

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/kernelops"
	"github.com/spf13/cobra"
)

// LogFlags say how a long-running role logs, on stderr.
type LogFlags struct{ Level, Format string }

// Add adds the flags, with the default level.
func (l *LogFlags) Add(cmd *cobra.Command, level string) {
	cmd.Flags().StringVar(&l.Level, "log-level", level, "log from this `level`: debug, info, warn or error")
	cmd.Flags().StringVar(&l.Format, "log-format", "text", "log as `format`: text or json")
}

// Logger makes the logger that the flags describe.
func (l LogFlags) Logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return nil, &exit.Failure{Code: exit.Usage,
			What: fmt.Sprintf("--log-level %q is unknown; known: debug, info, warn, error", l.Level)}
	}
	opt := &slog.HandlerOptions{Level: level}
	switch l.Format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opt)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return nil, &exit.Failure{Code: exit.Usage,
		What: fmt.Sprintf("--log-format %q is unknown; known: text, json", l.Format)}
}

// UntilStopped ends its context at SIGTERM or Ctrl-C; a second one ends the process at once.
func UntilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// UntilClosed ends its context when r does: a child outlives its parent no longer
// than a pipe between them.
func UntilClosed(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the pipe, at the latest with the process
		defer cancel()
		_, _ = io.Copy(io.Discard, r) // an error is an end as well
	}()
	return ctx, cancel
}

// stopTimeout bounds how long a role may take to stop serving.
const stopTimeout = 10 * time.Second

// Loopback reports whether an address can be reached from this machine only.
func Loopback(address string) bool {
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

// CheckCount refuses a number of slots or workers that no machine has.
func CheckCount(flag string, n int) error {
	if n >= 0 && n <= maxCount {
		return nil
	}
	return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--%s %d is not in the range 0 to %d", flag, n, maxCount)}
}

// ChooseKernels picks the kernel set: by flag, by GRAM_KERNELS, or the best.
func ChooseKernels(name string) (*kernelops.Set, error) {
	ops, err := kernelops.Choose(name)
	if err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprint(err)}
	}
	return ops, nil
}
