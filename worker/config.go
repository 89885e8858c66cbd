// Package worker leases tasks, computes them, commits their results by content and
// says so. A worker keeps nothing that matters: it may be killed at any moment.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Sentinel errors of Run.
var (
	// ErrDenied: the coordinator does not accept this worker's token.
	ErrDenied = errors.New("the coordinator refuses this worker's token; use the one in worker.token")
	// ErrDrainTimeout: tasks were still running when the time to drain was over; they were given back.
	ErrDrainTimeout = errors.New("gave tasks back that did not finish in time")
)

// Config says how to run a worker. Client, Ops, Kind and OpenStore are required.
type Config struct {
	Client gramv1connect.WorkerServiceClient
	Name   string // for people; "" means the host's name
	Slots  int    // tasks at a time; 0 means GOMAXPROCS
	Ops    *kernelops.Set
	// Memory is how many bytes the worker plans with: tasks at work, blocks of shards kept
	// for later rounds, states. 0 means DefaultMemory. The process that runs the worker sets
	// the limit of Go's runtime (debug.SetMemoryLimit).
	Memory int64
	// Scratch is a directory for what was found out about records and does not fit into Memory, so that later rounds
	// need not read them; "" for none. Workers may share it. ScratchLimit is how many bytes this worker may have there;
	// 0 means DefaultScratchLimit.
	Scratch      string
	ScratchLimit int64
	// Kind finds a kind of job by name.
	Kind func(name string) (jobs.Kind, error)
	// OpenStore opens a store by URI with this process's credentials.
	OpenStore func(ctx context.Context, uri string) (objstore.Store, error)
	// OpenInput opens what is only read, and makes nothing that is not there; nil means OpenStore.
	OpenInput func(ctx context.Context, uri string) (objstore.Store, error)
	// DrainTimeout is how long running tasks may take after Run's context ended; 0 means 25 s.
	DrainTimeout time.Duration
	// Alive is called while the worker's loop turns, at least with every heartbeat, whether or not
	// the coordinator answers; nil means that nobody wants to know.
	Alive  func()
	Logger *slog.Logger
	Build  string
}

func (c Config) withDefaults() (Config, error) {
	if c.Client == nil || c.Ops == nil || c.Kind == nil || c.OpenStore == nil {
		return c, errors.New("worker: Config needs Client, Ops, Kind and OpenStore")
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // "" stays "", which is only less pretty
	}
	if c.OpenInput == nil {
		c.OpenInput = c.OpenStore
	}
	c.Name, c.Build = wireText(c.Name, 256), wireText(c.Build, 256)
	if c.Slots == 0 {
		c.Slots = runtime.GOMAXPROCS(0)
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	if c.ScratchLimit == 0 {
		c.ScratchLimit = DefaultScratchLimit
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 25 * time.Second
	}
	if c.Alive == nil {
		c.Alive = func() {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// wireText makes a string fit to be sent: valid UTF-8, of limit bytes at most.
func wireText(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ToValidUTF8(s[:min(len(s), limit)], "") // not cut through a character
}
