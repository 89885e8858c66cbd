// Package coordinator remembers jobs through raft and decides who does what. It
// reads no data: a round is a forest of integers to it, and a spec is validated by
// a function that is given to it.
package coordinator

import (
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/internal/faults"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// ErrJoin: the cluster does not take this member; repeating the attempt is of no use.
var ErrJoin = errors.New("the cluster does not take this coordinator")

// Defaults of upkeep.
const (
	DefaultKeepJobs   = 720 * time.Hour
	DefaultSweepEvery = time.Hour
	DefaultSweepGrace = 24 * time.Hour
)

// Config says how to run a coordinator. Store and Validate are required.
type Config struct {
	DataDir  string // raft log, snapshots, certificates, tokens; "" keeps all in memory
	NodeID   string // stable name of this member; "" means "c1"
	RaftAddr string // host:port between coordinators; "" means 127.0.0.1:0
	// AdvertiseAddr is where the other members reach RaftAddr; "" means at RaftAddr itself.
	AdvertiseAddr string
	// Join are API addresses (host:port) of members of the cluster to join, JoinToken an
	// admin's token there. They count while the data directory holds no log; then, and
	// without them, the member goes on with its log, or begins a cluster.
	Join      []string
	JoinToken gate.Token
	// Bootstrap is the raft address of the member that, though it has Join, begins the cluster, once in
	// the life of the store: then all members can be started alike.
	Bootstrap string
	// Restore is a backup's file that a new cluster begins with; the data directory must be empty.
	Restore string
	// PromoteAfter is how long a new member must be healthy before it gets a vote; 0 means 10 s.
	PromoteAfter time.Duration
	ListenAddr   string // host:port of the API; "" means no listener: use Handler
	// Names are more DNS names and IP addresses for the certificate, such as a load
	// balancer's. It covers localhost and the addresses above without them.
	Names    []string
	StoreURI string // where job objects live, told to workers
	Store    objstore.Store
	// Validate writes a spec's defaults in and refuses a bad one.
	Validate func(protocol.JobSpec) (protocol.JobSpec, error)
	// LeastState is how many bytes a valid spec's job takes at least, 0 where that cannot be told; nil tells nothing.
	LeastState func(protocol.JobSpec) int64
	// MostRounds is how many rounds a valid spec's job has at most, given its shards, 0 where that is not known; nil
	// tells nothing.
	MostRounds func(spec protocol.JobSpec, shards int) int64
	// Ended makes the page and the report.json of a job that failed or was cancelled, from what is known of it; nil
	// makes none.
	Ended func(job *pb.Job, course *pb.Timeline) (page, data []byte, err error)
	// KeepJobs is how long ended jobs are kept that say nothing of their own; 0 means 30 days, below 0 without end.
	KeepJobs time.Duration
	// Every SweepEvery (0: an hour) the leader deletes what has been garbage for SweepGrace (0: a day). A
	// backup younger than that finds all it refers to.
	SweepEvery, SweepGrace time.Duration

	Schedule     schedule.Config // zero means schedule.DefaultConfig
	ApplyTimeout time.Duration   // of one proposal; 0 means 10 s
	DiskLimit    time.Duration   // longest a log write may take; 0 means 5 s
	// SnapshotEntries is after how many entries of the log the state is written down, and how many
	// are kept behind it for members that lag; 0 means raft's 8,192 and 10,240.
	SnapshotEntries uint64
	// CheckpointEvery is after how many log entries the members' states are compared; 0 means 10,000.
	CheckpointEvery uint64
	// checkpointAfter is after how long they are compared however quiet the log is; 0 means ten minutes.
	checkpointAfter time.Duration
	// Audit is the file of the audit log; "" means audit.jsonl in the data directory (in memory none),
	// AuditOff none. AuditTo, where it is set, takes the lines instead.
	Audit   string
	AuditTo io.WriteCloser
	Logger  *slog.Logger
	Version string
	// WorkerCertificates: workers must show a certificate with the worker's role, besides their token.
	WorkerCertificates bool
	// CallRate is how many calls per second a token may make (a worker's: ten times as many); 0 means 2,000, less any
	// number.
	CallRate float64
	// MaxConnections bounds the connections to the API's port, and MaxConnectionsPerAddress those of one IP
	// address; 0 means 20,000 and 4,000.
	MaxConnections, MaxConnectionsPerAddress int
	// raftTimeout is what raft waits for before it holds an election; 0 means its
	// defaults, about a second.
	raftTimeout time.Duration
	// wallClock is time.Now, but for tests.
	wallClock func() time.Time
	// bootClock is sinceBoot, but for tests.
	bootClock func() time.Duration
	limits    bounds.Limits // zero means defaults
	// snapshotBytes of the log make a snapshot due; 0 means the constant of that name.
	snapshotBytes int64
	// diskSpace is freeSpace, but for tests.
	diskSpace func(dir string) (node.Space, error)
	// wrapLog puts a faulty disk under the log in tests.
	wrapLog func(node.DurableStore) node.DurableStore
}

// node is the part of the configuration that a raft member reads.
func (c Config) node() node.Config {
	return node.Config{
		DataDir: c.DataDir, NodeID: c.NodeID, Joins: len(c.Join) > 0, RaftAddr: c.RaftAddr,
		AdvertiseAddr: c.AdvertiseAddr,
		DiskLimit:     c.DiskLimit, SnapshotEntries: c.SnapshotEntries, SnapshotBytes: c.snapshotBytes,
		RaftTimeout: c.raftTimeout,
		Limits:      c.limits, Logger: c.Logger, WrapLog: c.wrapLog,
	}
}

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil || c.Validate == nil || c.StoreURI == "" {
		return c, errors.New("coordinator: Config needs Store, StoreURI and Validate")
	}
	if c.Schedule == (schedule.Config{}) {
		c.Schedule = schedule.DefaultConfig()
	}
	if c.RaftAddr == "" {
		c.RaftAddr = "127.0.0.1:0"
	}
	if c.DataDir == "" {
		c.raftTimeout = node.MemoryTimeout // there is nobody to hear from
	}
	if len(c.Join) > 0 && c.DataDir == "" {
		return c, errors.New("coordinator: a member that keeps all in memory cannot join others")
	}
	if c.Restore != "" && (len(c.Join) > 0 || c.DataDir == "") {
		return c, errors.New("coordinator: a backup is restored into a data directory, by a member that does not " +
			"join others")
	}
	return c.withTimes(), nil
}

// withTimes fills in limits, the clock and the logger.
func (c Config) withTimes() Config {
	if c.KeepJobs == 0 {
		c.KeepJobs = DefaultKeepJobs
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = DefaultSweepEvery
	}
	if c.SweepGrace == 0 {
		c.SweepGrace = DefaultSweepGrace
	}
	if c.PromoteAfter == 0 {
		c.PromoteAfter = 10 * time.Second
	}
	if c.ApplyTimeout == 0 {
		c.ApplyTimeout = 10 * time.Second
	}
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = 10_000
	}
	if c.checkpointAfter == 0 {
		c.checkpointAfter = 10 * time.Minute
	}
	if c.DiskLimit == 0 {
		c.DiskLimit = 5 * time.Second
	}
	if c.CallRate == 0 {
		c.CallRate = 2000
	}
	c.limits.Total, c.limits.PerAddress = c.MaxConnections, c.MaxConnectionsPerAddress
	c.limits = c.limits.WithDefaults()
	if c.wallClock == nil {
		c.wallClock = time.Now
		if faults.Enabled {
			c.wallClock = func() time.Time { return time.Now().Add(faults.Skew()) }
		}
	}
	if c.bootClock == nil {
		c.bootClock = sinceBoot
	}
	if c.diskSpace == nil {
		c.diskSpace = node.FreeSpace
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
