package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func coordinatorCommand(a *app) *cobra.Command {
	cfg := coordinator.Config{Schedule: schedule.DefaultConfig()}
	var logs local.LogFlags
	var join []string
	var upkeep upkeepFlags
	var allowed local.StoreFlags
	cmd := &cobra.Command{
		Use:   "coordinator --data DIR [--store URI]",
		Short: "Run a coordinator",
		Example: `  gram coordinator --data /var/lib/gram --store s3://gram-jobs
  gram coordinator --data /var/lib/gram --store s3://gram-jobs \
      --listen 10.0.0.5:7480 --raft 10.0.0.5:7481
  gram coordinator --data /var/lib/gram --store s3://gram-jobs \
      --listen 10.0.0.6:7480 --raft 10.0.0.6:7481 \
      --join 10.0.0.5:7480 --token-file admin.token`,
		Long: coordinatorLong,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if cfg.Logger, err = logs.Logger(a.err); err != nil {
				return err
			}
			if err := upkeep.fill(&cfg); err != nil {
				return err
			}
			if err := joining(a, &cfg, join); err != nil {
				return err
			}
			if a.getenv("GOGC") == "" {
				debug.SetGCPercent(coordinatorGCPercent)
			}
			ctx, stop := local.UntilStopped(cmd.Context())
			defer stop()
			return serveCoordinator(ctx, a, cfg, allowed, func(c *coordinator.Coordinator) error {
				announce(a, cfg, c.Addr())
				announceRestored(a, cfg.Restore, c.Restored(), "the tokens above are new")
				return local.ForgetJoin(cfg.DataDir)
			})
		},
	}
	coordinatorFlags(cmd, &cfg, &join)
	allowed.Add(cmd.Flags(), "that jobs may name")
	upkeep.add(cmd)
	logs.Add(cmd, "info")
	return cmd
}

// coordinatorGCPercent has garbage collected less often than Go's 100 does. What lives is small, some 60 MB with a
// thousand workers, but each collection walks the stacks of all connections. GOMEMLIMIT bounds the memory as ever.
const coordinatorGCPercent = 300

func coordinatorFlags(cmd *cobra.Command, cfg *coordinator.Config, join *[]string) {
	set := cmd.Flags()
	set.StringVar(&cfg.DataDir, "data", "", "`directory` of the log, the certificates and the tokens")
	set.StringVar(&cfg.ListenAddr, "listen", "127.0.0.1:7480", "`address` of the API")
	set.StringVar(&cfg.RaftAddr, "raft", "127.0.0.1:7481", "`address` between coordinators")
	set.StringSliceVar(&cfg.Names, "tls-name", nil,
		"another DNS `name` or IP address for the certificate; may be repeated")
	memberFlags(set, cfg, join)
	replicationFlags(set, cfg)
	set.StringVar(&cfg.StoreURI, "store", "",
		"where job objects live: `URI` of a bucket or directory (default DIR/store)")
	watchFlags(set, cfg)
	guardFlags(set, cfg)
	if err := cmd.MarkFlagRequired("data"); err != nil {
		panic(err) // the flag is defined above
	}
}

// memberFlags say how it belongs to a cluster.
func memberFlags(set *pflag.FlagSet, cfg *coordinator.Config, join *[]string) {
	set.StringVar(&cfg.AdvertiseAddr, "advertise", "",
		"`address` the other coordinators reach --raft at (default --raft)")
	set.StringSliceVar(join, "join", nil, "become a member of the cluster at these `addresses` of its API")
	set.StringVar(&cfg.Bootstrap, "bootstrap", "",
		"with --join: the member that others reach at this raft `address` begins the cluster, once in the life of "+
			"the store")
	set.StringVar(&cfg.Restore, "restore", "", "begin a new cluster with this `file` of gram cluster backup")
	set.StringVar(&cfg.NodeID, "node-id", "",
		"`name` of this member, for good (default the one in DIR; new: c1, random with --join)")
}

// replicationFlags are about the replicated log.
func replicationFlags(set *pflag.FlagSet, cfg *coordinator.Config) {
	set.DurationVar(&cfg.PromoteAfter, "promote-after", 10*time.Second,
		"the leader gives a new member its vote when it was healthy for this `time`")
	set.Uint64Var(&cfg.SnapshotEntries, "snapshot-entries", 0,
		"write the state down after this `number` of log entries, and keep as many (default 8192)")
	set.Uint64Var(&cfg.CheckpointEvery, "checkpoint-every", 10_000,
		"compare the members' states after this `number` of log entries")
}

// watchFlags are about how the coordinator watches over workers and itself.
func watchFlags(set *pflag.FlagSet, cfg *coordinator.Config) {
	set.StringVar(&cfg.Audit, "audit", "",
		"`file` of the audit log (default DIR/audit.jsonl); - is stdout, off turns it off")
	set.DurationVar(&cfg.Schedule.LeaseTTL, "lease-ttl", cfg.Schedule.LeaseTTL, leaseUsage)
}

// guardFlags say whom the API's port takes, and how much of it anyone gets.
func guardFlags(set *pflag.FlagSet, cfg *coordinator.Config) {
	set.BoolVar(&cfg.WorkerCertificates, "require-worker-certificates", false,
		"take workers only with a certificate of role worker, beside their token")
	set.Float64Var(&cfg.CallRate, "call-rate", 2000,
		"calls per second that a token may make, a worker's ten times as many; `number`, -1 is any")
	set.IntVar(&cfg.MaxConnections, "max-connections", 20000, "`number` of connections to the API at a time")
	set.IntVar(&cfg.MaxConnectionsPerAddress, "max-connections-per-address", 4000,
		"`number` of them from one IP address")
}

// joining fills in what a member needs to join others.
func joining(a *app, cfg *coordinator.Config, addresses []string) error {
	if cfg.MaxConnections < 1 || cfg.MaxConnectionsPerAddress < 1 {
		return &exit.Failure{Code: exit.Usage,
			What: "--max-connections and --max-connections-per-address are at least 1"}
	}
	if cfg.PromoteAfter <= 0 {
		return &exit.Failure{Code: exit.Usage, What: "--promote-after is more than 0"}
	}
	if err := local.OwnAddresses(cfg); err != nil {
		return err
	}
	var err error
	if cfg.Join, err = local.APIAddresses("--join", addresses); err != nil {
		return err
	}
	if len(addresses) == 0 {
		if cfg.Bootstrap != "" {
			return &exit.Failure{Code: exit.Usage, What: "--bootstrap says which of those in --join begins",
				Hint: "A coordinator that is alone begins without it."}
		}
		return local.PreparedJoin(cfg)
	}
	if cfg.Restore != "" {
		return &exit.Failure{Code: exit.Usage, What: "--restore and --join exclude each other",
			Hint: "Restore one member, then let the others join it."}
	}
	if _, err := os.Stat(filepath.Join(cfg.DataDir, node.ClusterIDFile)); err == nil {
		return nil // it is a member already and needs no token
	}
	cfg.JoinToken, err = joinToken(a)
	return err
}

const coordinatorLong = `The first start makes the cluster's authority (DIR/pki/ca.pem) and two tokens:
DIR/admin.token for people, DIR/worker.token for workers. Every connection
is TLS and every call needs a token; there is no way to turn that off.
The certificate covers localhost, the addresses of --listen and --raft (for
0.0.0.0 this machine's host name and every address of its interfaces), and
each --tls-name: the names clients and workers reach it by.
With --join and nothing in DIR but DIR/pki, from ` + "`gram pki issue`" + `, it becomes a
member of the cluster there: it catches up, and gets its vote after the leader's
--promote-after. Once it has joined, --join and the token count no more.
` + "`gram cluster join`" + ` prepares a directory so that no --join is needed.
With --bootstrap all members can be started alike, each with the addresses of
all: the one whose --advertise it is begins the cluster and says so in the
store, where it looks before: should it lose its disk, it begins no other.
SIGTERM hands the lead over, if it has it, and stops it in order; what it
decided is on disk before it is told.`

const leaseUsage = "a task is given to another worker when its own was silent for this `time`"

// announce says how to reach the coordinator.
func announce(a *app, cfg coordinator.Config, addr string) {
	a.note("gram: coordinator on https://%s, coordinators among themselves on %s\n  TLS, authority  %s",
		addr, cfg.RaftAddr, filepath.Join(cfg.DataDir, local.CAPath))
	admin := filepath.Join(cfg.DataDir, coordinator.AdminTokenFile)
	if _, err := os.Stat(admin); err == nil { // not on a member that joined
		a.note("  token, people   %s\n  token, workers  %s", admin,
			filepath.Join(cfg.DataDir, coordinator.WorkerTokenFile))
	}
	if !local.Loopback(addr) {
		a.note("  other machines can reach it; they need the authority's file and a token")
	}
}

// maxMissing bounds the missing objects that are listed on the terminal; the log has all of them.
const maxMissing = 20

// announceRestored says what came of --restore; tokens is about the new ones.
func announceRestored(a *app, from string, r *coordinator.Restored, tokens string) {
	if r == nil {
		return
	}
	a.note("gram: restored from %s: epoch %d, %s; %s, those of the old cluster are void", from, r.Epoch,
		protocol.Counted(r.Jobs, "job"), tokens)
	a.note("  objects         %d looked for, %d missing, %d in other stores not looked for", r.Objects, len(r.Missing),
		r.Elsewhere)
	for _, m := range r.Missing[:min(len(r.Missing), maxMissing)] {
		a.note("  missing         %s", m)
	}
	if more := len(r.Missing) - maxMissing; more > 0 {
		a.note("  missing         %d more, in the log", more)
	}
	if r.Schedules > 0 {
		a.note("  schedules       %d, held: `gram schedule release` lets them go on", r.Schedules)
	}
}

// serveCoordinator runs a coordinator until ctx ends or it fails; ready is called once it leads.
func serveCoordinator(
	ctx context.Context, a *app, cfg coordinator.Config, allowed local.StoreFlags,
	ready func(*coordinator.Coordinator) error,
) error {
	if err := local.PrepareData(&cfg, a.out); err != nil {
		return err
	}
	cfg.StoreURI = a.storeURI(cfg.StoreURI)
	if err := local.GuardStores(ctx, allowed, a.getenv, &cfg); err != nil {
		return err
	}
	cfg.Version, _ = build()
	return local.Serve(ctx, cfg, ready)
}
