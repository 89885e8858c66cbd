package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/logstore"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	snapshotsKept = 3
	snapshotPause = 5 * time.Second       // between two looks at whether one is due, where SnapshotEntries says when
	MemoryTimeout = 10 * time.Millisecond // raft's timeouts for a cluster of one, which waits for nobody
	// idleConnections to one member stay open: one for heartbeats, one for entries. With fewer the two, when they meet,
	// pay for a TLS handshake each time. Each takes 256 KiB of buffers at either end. More pile up with the elections:
	// raft never closes an idle connection.
	idleConnections = 2
)

// LogFile is the log's name in the raft folder.
const LogFile = "log.db"

// Member is this process's part in raft.
type Member struct {
	Raft      *raft.Raft
	transport raft.Transport
	Port      *Port              // nil in memory
	Address   raft.ServerAddress // of the raft port; "" in memory
	paced     bool               // its heartbeats are those of a leader of others, see Pace
	meter     *logMeter          // nil in memory
	tasks     *life.Tasks
	closers   []io.Closer // in order of opening
}

// New returns a member whose log is not open yet. What waits for raft is one of the tasks.
func New(tasks *life.Tasks) *Member { return &Member{tasks: tasks} }

// Start joins the log with the state machine. A member with an empty log bootstraps
// a cluster of one, unless it has joined another.
func (m *Member) Start(cfg Config, stores Stores, machine raft.FSM, joined bool) error {
	if f, ok := machine.(*FSM); ok && m.meter != nil {
		f.persisted = m.meter.cut
	}
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(cfg.NodeID)
	conf.ProtocolVersion = raft.ProtocolVersionMax
	conf.Logger = hclog.New(&hclog.LoggerOptions{
		Name: "raft", Level: hclog.Warn, Output: bounds.LogWriter{Log: cfg.Logger}, DisableTime: true,
	})
	if n := cfg.SnapshotEntries; n != 0 {
		conf.SnapshotThreshold, conf.TrailingLogs, conf.SnapshotInterval = n, n, snapshotPause
	}
	conf.CommitTimeout, conf.LeaderLeaseTimeout = tellCommits, leaderLease
	if t := cfg.RaftTimeout; t != 0 {
		conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout, conf.CommitTimeout = t, t, t, t
	}
	m.paced = cfg.RaftTimeout == 0
	alone := cfg.DataDir == ""
	if alone {
		conf.HeartbeatTimeout, conf.ElectionTimeout = 2*conf.HeartbeatTimeout, 2*conf.ElectionTimeout // until electNow
	}
	if !joined {
		if err := bootstrapOnce(conf, stores, m.transport); err != nil {
			return err
		}
	}
	var err error
	if m.Raft, err = raft.NewRaft(conf, machine, stores.Log, stores.Stable, stores.Snapshots, m.transport); err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	if alone {
		if err := m.electNow(); err != nil {
			return err
		}
	}
	if joined {
		return nil // its log may not tell of it yet
	}
	return m.checkMembership(cfg)
}

// electNow makes a member that is alone hold an election at once: raft looks at its heartbeats when their timeout is
// shortened, and nobody has sent one.
func (m *Member) electNow() error {
	conf := m.Raft.ReloadableConfig()
	conf.HeartbeatTimeout, conf.ElectionTimeout = conf.HeartbeatTimeout/2, conf.ElectionTimeout/2
	if err := m.Raft.ReloadConfig(conf); err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	return nil
}

// Servers are the members, as far as this member's log goes, and the log's index of that.
func (m *Member) Servers() ([]raft.Server, uint64, error) {
	future := m.Raft.GetConfiguration()
	if err := future.Error(); err != nil {
		return nil, 0, fmt.Errorf("read the cluster's members: %w", err)
	}
	return slices.Clone(future.Configuration().Servers), future.Index(), nil // raft goes on using its own
}

// checkMembership refuses a name that the log does not know: raft would wait to be added, without end.
func (m *Member) checkMembership(cfg Config) error {
	servers, _, err := m.Servers()
	if err != nil {
		return err
	}
	var names []string
	for _, server := range servers {
		if server.ID == raft.ServerID(cfg.NodeID) {
			return nil
		}
		names = append(names, string(server.ID))
	}
	return fmt.Errorf("%w: the log in %s knows the members %s and no %s: start with the node id this directory was "+
		"made with, or, if this member was removed, join again under another id with another data directory",
		ErrDataDir, filepath.Join(cfg.DataDir, "raft"), strings.Join(names, ", "), cfg.NodeID)
}

// SnapshotIndex is the last entry in the newest snapshot; 0 without a snapshot.
func (m *Member) SnapshotIndex() uint64 {
	index, err := strconv.ParseUint(m.Raft.Stats()["last_snapshot_index"], 10, 64)
	if err != nil {
		return 0
	}
	return index
}

// Stores are what raft keeps.
type Stores struct {
	Log       raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore
}

// OpenStores opens the log, which one process at a time can hold, and the snapshots.
func (m *Member) OpenStores(cfg Config, fail func(error)) (Stores, error) {
	if cfg.DataDir == "" {
		memory := wrapped(cfg, raft.NewInmemStore())
		return Stores{memory, memory, raft.NewInmemSnapshotStore()}, nil
	}
	dir := filepath.Join(cfg.DataDir, "raft")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Stores{}, fmt.Errorf("make data directory: %w", err)
	}
	if err := probeDisk(dir, cfg.DiskLimit); err != nil {
		return Stores{}, err
	}
	bolt, found, err := openBolt(filepath.Join(dir, LogFile), cfg.Logger)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return Stores{}, fmt.Errorf("another coordinator runs on %s: stop it, or use another data directory (%w)",
			cfg.DataDir, err)
	}
	if err != nil {
		return Stores{}, err
	}
	m.closers = append(m.closers, bolt)
	snapshots, err := logstore.OpenSnapshots(dir, snapshotsKept)
	if err != nil {
		return Stores{}, err
	}
	checked := logstore.Check(bolt)
	if err := checkDisk(cfg, checked, found, snapshots); err != nil {
		return Stores{}, err
	}
	stores := Stores{checked, checked, snapshots}
	m.meter = newLogMeter(cfg.SnapshotBytes)
	if err := m.meter.read(stores); err != nil {
		return Stores{}, err
	}
	watched := &watchdog{DurableStore: wrapped(cfg, checked), dir: dir, limit: cfg.DiskLimit, fail: fail,
		meter: m.meter}
	return Stores{watched, watched, snapshots}, nil
}

func wrapped(cfg Config, store DurableStore) DurableStore {
	if cfg.WrapLog == nil {
		return store
	}
	return cfg.WrapLog(store)
}

// probeDisk refuses a disk that cannot write and sync a page in time.
func probeDisk(dir string, limit time.Duration) error {
	start := time.Now()
	probe, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return fmt.Errorf("probe disk: %w", DiskError(err))
	}
	defer os.Remove(probe.Name())
	_, err = probe.Write(make([]byte, 4096))
	if err := errors.Join(err, probe.Sync(), probe.Close()); err != nil {
		return fmt.Errorf("probe disk: %w", DiskError(err))
	}
	if took := time.Since(start); took > limit {
		return fmt.Errorf("probe disk: a synced write in %s took %v, longer than %v: the disk is too slow for a "+
			"raft log; use another for the data directory", dir, took, limit)
	}
	return nil
}

// withoutPipeline is the number of calls to a follower in flight at which raft 1.8 does not pipeline: a
// pipeline that breaks reads the follower's address without its lock, and races with a follower that moves
// (hashicorp/raft issue 681). An append carries up to 64 entries either way.
const withoutPipeline = 1

// OpenTransport begins to listen for the other members.
func (m *Member) OpenTransport(cfg Config, identity *pki.Identity, clusterID func() string) error {
	if cfg.DataDir == "" {
		m.OpenInMemory("")
		return nil
	}
	port, err := Listen(cfg, identity, clusterID)
	if err != nil {
		return err
	}
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: port, MaxPool: idleConnections, MaxRPCsInFlight: withoutPipeline,
		Timeout: 10 * time.Second, Logger: hclog.NewNullLogger(),
	})
	m.closers = append(m.closers, transport)
	m.Port, m.transport, m.Address = port, transport, transport.LocalAddr()
	return nil
}

// OpenInMemory opens a transport that reaches nobody, for a cluster of one.
func (m *Member) OpenInMemory(address raft.ServerAddress) {
	_, transport := raft.NewInmemTransport(address)
	m.closers = append(m.closers, transport)
	m.transport = transport
}

func bootstrapOnce(conf *raft.Config, stores Stores, transport raft.Transport) error {
	exists, err := raft.HasExistingState(stores.Log, stores.Stable, stores.Snapshots)
	if err != nil {
		return fmt.Errorf("look for an existing log: %w", err)
	}
	if exists {
		return nil
	}
	alone := raft.Configuration{Servers: []raft.Server{{ID: conf.LocalID, Address: transport.LocalAddr()}}}
	if err := raft.BootstrapCluster(conf, stores.Log, stores.Stable, stores.Snapshots, transport, alone); err != nil {
		return fmt.Errorf("bootstrap the cluster: %w", err)
	}
	return nil
}

// Close stops raft, then what it stood on, in reverse order.
func (m *Member) Close() error {
	var failures []error
	if m.Raft != nil {
		failures = append(failures, m.Raft.Shutdown().Error())
	}
	for i := len(m.closers) - 1; i >= 0; i-- {
		failures = append(failures, m.closers[i].Close())
	}
	return errors.Join(failures...)
}
