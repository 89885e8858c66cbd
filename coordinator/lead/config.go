// Package lead is what lives with a leadership: who may decide, the decisions, leases, ticks, sweeps and the watch over
// the other members. Every member has it ready; it acts while it leads.
package lead

import (
	"context"
	"log/slog"
	"time"

	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Config says what a leader stands on, and how it leads.
type Config struct {
	Member   *node.Member
	FSM      *node.FSM
	Peers    *node.Peers // nil in memory
	Checks   *node.Checks
	Clock    *Clock
	Tasks    *life.Tasks
	Trails   audit.Trails
	Meters   *meters.Meters
	Commands command.Maker
	Logger   *slog.Logger

	NodeID, DataDir, Version, StoreURI string
	Store                              objstore.Store
	ClusterID                          func() string
	NewID                              func() (string, error) // of a cluster that begins
	First                              []FirstToken
	Fail                               func(error) // this process cannot go on
	Ready                              func() error
	// LeastState is how many bytes a valid spec's job takes at least; nil tells nothing.
	LeastState func(protocol.JobSpec) int64
	// MostRounds is how many rounds a valid spec's job has at most, given its shards; 0 where that is not known. nil
	// tells nothing.
	MostRounds func(spec protocol.JobSpec, shards int) int64
	// Ended makes the page and the report.json of a job that failed or was cancelled; nil makes none.
	Ended func(job *pb.Job, course *pb.Timeline) (page, data []byte, err error)

	Schedule     schedule.Config
	ApplyTimeout time.Duration // of one proposal
	PromoteAfter time.Duration // how long a new member is healthy before it gets a vote
	// how long ended jobs are kept that name no time of their own; below 0 without end
	KeepJobs               time.Duration
	SweepEvery, SweepGrace time.Duration
	CheckpointEvery        uint64 // entries
	CheckpointAfter        time.Duration
	DiskSpace              func(dir string) (node.Space, error)
}

// New returns what leads once Follow runs. Registered with the meters, it is measured.
func New(cfg Config) *Leader {
	c := &Leader{
		cfg: cfg, fsm: cfg.FSM, member: cfg.Member, peers: cfg.Peers, checks: cfg.Checks, clock: cfg.Clock,
		meters: cfg.Meters, commands: cfg.Commands, tasks: cfg.Tasks, news: make(chan struct{}),
	}
	c.log = &Log{
		member: cfg.Member, fsm: cfg.FSM, tasks: cfg.Tasks, clock: cfg.Clock, trails: cfg.Trails,
		commits: cfg.Meters.Commits,
		timeout: cfg.ApplyTimeout, lowDisk: &c.lowDisk, completions: make(chan pending),
	}
	c.members = &Members{Leader: c}
	cfg.Meters.Registry.MustRegister(&measures{c})
	return c
}

// Work starts what a member does all its life, as leader or follower.
func (c *Leader) Work(life context.Context) {
	for _, do := range []func(context.Context){
		c.log.CommitGroups, DiskWatch{c}.watchDisk, timekeeper{c}.watchClock, c.watchLeader,
		c.members.watchOwnMembership,
		func(ctx context.Context) { c.checks.Hash(ctx, c.fsm) },
	} {
		c.tasks.Go(func() { do(life) })
	}
	if c.peers != nil {
		c.tasks.Go(func() { c.members.TellAddress(life) })
	}
}

// Log is how commands get into the log.
func (c *Leader) Log() *Log { return c.log }

// Members changes who belongs to the cluster.
func (c *Leader) Members() *Members { return c.members }
