package coordinator

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/logstore"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/internal/seeded"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	snapshotsKept = 3
	snapshotPause = 5 * time.Second       // between two looks at whether one is due, where SnapshotEntries says when
	memoryTimeout = 50 * time.Millisecond // raft's timeouts for a cluster that keeps all in memory
)

// logFile is the log's name in the raft folder.
const logFile = "log.db"

// member is this process's part in raft.
type member struct {
	raft      *raft.Raft
	transport raft.Transport
	port      *raftPort          // nil in memory
	address   raft.ServerAddress // of the raft port; "" in memory
	meter     *logMeter          // nil in memory
	closers   []io.Closer        // in order of opening
}

// start joins the log with the state machine. A member with an empty log bootstraps
// a cluster of one, unless it has joined another.
func (m *member) start(cfg Config, stores raftStores, machine raft.FSM, joined bool) error {
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(cfg.NodeID)
	conf.ProtocolVersion = raft.ProtocolVersionMax
	conf.Logger = hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Warn, Output: slogWriter{cfg.Logger}, DisableTime: true})
	if n := cfg.SnapshotEntries; n != 0 {
		conf.SnapshotThreshold, conf.TrailingLogs, conf.SnapshotInterval = n, n, snapshotPause
	}
	if t := cfg.raftTimeout; t != 0 {
		conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout, conf.CommitTimeout = t, t, t, t
	}
	if !joined {
		if err := bootstrapOnce(conf, stores, m.transport); err != nil {
			return err
		}
	}
	var err error
	if m.raft, err = raft.NewRaft(conf, machine, stores.log, stores.stable, stores.snapshots, m.transport); err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	if joined {
		return nil // its log may not tell of it yet
	}
	return m.checkMembership(cfg)
}

// servers are the members, as far as this member's log goes, and the log's index of that.
func (m *member) servers() ([]raft.Server, uint64, error) {
	future := m.raft.GetConfiguration()
	if err := future.Error(); err != nil {
		return nil, 0, fmt.Errorf("read the cluster's members: %w", err)
	}
	return slices.Clone(future.Configuration().Servers), future.Index(), nil // raft goes on using its own
}

// checkMembership refuses a name that the log does not know: raft would wait for
// ever to be added.
func (m *member) checkMembership(cfg Config) error {
	servers, _, err := m.servers()
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
	return fmt.Errorf("%w: the log in %s knows the members %s and no %s: start with the node id this directory was made with, or, if this member was removed, join again under another id with another data directory",
		ErrDataDir, filepath.Join(cfg.DataDir, "raft"), strings.Join(names, ", "), cfg.NodeID)
}

// snapshotIndex is the entry of the newest snapshot; 0 where there is none.
func (m *member) snapshotIndex() uint64 {
	index, err := strconv.ParseUint(m.raft.Stats()["last_snapshot_index"], 10, 64)
	if err != nil {
		return 0
	}
	return index
}

type raftStores struct {
	log       raft.LogStore
	stable    raft.StableStore
	snapshots raft.SnapshotStore
}

// openStores opens the log, which one process at a time can hold, and the snapshots.
func (m *member) openStores(cfg Config, fail func(error)) (raftStores, error) {
	if cfg.DataDir == "" {
		memory := wrapped(cfg, raft.NewInmemStore())
		return raftStores{memory, memory, raft.NewInmemSnapshotStore()}, nil
	}
	dir := filepath.Join(cfg.DataDir, "raft")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return raftStores{}, fmt.Errorf("make data directory: %w", err)
	}
	if err := probeDisk(dir, cfg.DiskLimit); err != nil {
		return raftStores{}, err
	}
	bolt, found, err := openBolt(filepath.Join(dir, logFile), cfg.Logger)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return raftStores{}, fmt.Errorf("another coordinator runs on %s: stop it, or use another data directory (%w)", cfg.DataDir, err)
	}
	if err != nil {
		return raftStores{}, err
	}
	m.closers = append(m.closers, bolt)
	snapshots, err := logstore.OpenSnapshots(dir, snapshotsKept)
	if err != nil {
		return raftStores{}, err
	}
	checked := logstore.Check(bolt)
	if err := checkDisk(cfg, checked, found, snapshots); err != nil {
		return raftStores{}, err
	}
	stores := raftStores{checked, checked, snapshots}
	m.meter = newLogMeter(cfg.snapshotBytes)
	if err := m.meter.read(stores); err != nil {
		return raftStores{}, err
	}
	log := wrapped(cfg, checked)
	if seeded.Is(seeded.SkippedFsync) {
		lazy := &lazyLog{durableStore: log}
		log, m.closers = lazy, append(m.closers, lazy)
	}
	watched := &watchdog{durableStore: log, dir: dir, limit: cfg.DiskLimit, fail: fail, meter: m.meter}
	return raftStores{watched, watched, snapshots}, nil
}

func wrapped(cfg Config, store durableStore) durableStore {
	if cfg.wrapLog == nil {
		return store
	}
	return cfg.wrapLog(store)
}

// probeDisk refuses a disk that cannot write and sync a page in time.
func probeDisk(dir string, limit time.Duration) error {
	start := time.Now()
	probe, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return fmt.Errorf("probe disk: %w", diskError(err))
	}
	defer os.Remove(probe.Name())
	_, err = probe.Write(make([]byte, 4096))
	if err := errors.Join(err, probe.Sync(), probe.Close()); err != nil {
		return fmt.Errorf("probe disk: %w", diskError(err))
	}
	if took := time.Since(start); took > limit {
		return fmt.Errorf("probe disk: a synced write in %s took %v, longer than %v: the disk is too slow for a raft log; use another for the data directory", dir, took, limit)
	}
	return nil
}

func (m *member) openTransport(cfg Config, identity *pki.Identity, clusterID func() string) error {
	if cfg.DataDir == "" {
		_, transport := raft.NewInmemTransport("")
		m.closers = append(m.closers, transport)
		m.transport = transport
		return nil
	}
	port, err := listenRaft(cfg, identity, clusterID)
	if err != nil {
		return err
	}
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: port, MaxPool: 3, Timeout: 10 * time.Second, Logger: hclog.NewNullLogger(),
	})
	m.closers = append(m.closers, transport)
	m.port, m.transport, m.address = port, transport, transport.LocalAddr()
	return nil
}

func bootstrapOnce(conf *raft.Config, stores raftStores, transport raft.Transport) error {
	exists, err := raft.HasExistingState(stores.log, stores.stable, stores.snapshots)
	if err != nil {
		return fmt.Errorf("look for an existing log: %w", err)
	}
	if exists {
		return nil
	}
	alone := raft.Configuration{Servers: []raft.Server{{ID: conf.LocalID, Address: transport.LocalAddr()}}}
	if err := raft.BootstrapCluster(conf, stores.log, stores.stable, stores.snapshots, transport, alone); err != nil {
		return fmt.Errorf("bootstrap the cluster: %w", err)
	}
	return nil
}

// close stops raft, then what it stood on, in reverse order.
func (m *member) close() error {
	var failures []error
	if m.raft != nil {
		failures = append(failures, m.raft.Shutdown().Error())
	}
	for i := len(m.closers) - 1; i >= 0; i-- {
		failures = append(failures, m.closers[i].Close())
	}
	return errors.Join(failures...)
}

// slogWriter hands raft's own lines on.
type slogWriter struct{ log *slog.Logger }

func (w slogWriter) Write(line []byte) (int, error) {
	w.log.Warn("raft", "line", string(trimNewline(line)))
	return len(line), nil
}

func trimNewline(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
