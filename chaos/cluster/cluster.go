package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	deployed "github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
)

// Options say what to run.
type Options struct {
	Gram      string // the binary
	Versitygw string // the S3 server's
	Folder    string // for data, logs and objects
	Voters    int    // coordinators
	Crew      int    // workers
	LeaseTTL  time.Duration
	Network   *Network
	Env       []string // more for coordinators and workers
	// Flags are more flags for every coordinator.
	Flags []string
	// Faults: the binary is built with -tags faults, and files disturb its processes.
	Faults bool
	// StoreProxy stands before the S3 server: it is given the server's address, and says its own.
	StoreProxy func(listen, server string) (address string, err error)
}

// Cluster is coordinators, workers and a store.
type Cluster struct {
	Options
	Members []*Member
	Workers []*Worker
	server  *Process
	store   deployed.Store
	storeAt string // where the processes reach the store: the proxy

	mu           sync.Mutex
	admin        *http.Client // the runner's own, for ClusterOf
	adminOptions connect.ClientOption
}

// Worker is a worker, the same through restarts.
type Worker struct {
	*Process
	Host    string
	Scratch string // its folder for temporary files
}

// The credentials and the bucket of the S3 server.
const (
	AccessKey = "chaos"
	SecretKey = "chaos-secret"
	Bucket    = "gram"
)

const (
	apiPort  = 7480
	raftPort = 7481
)

// Start starts the store, the members one at a time, and the workers. Whatever it could start is
// in the cluster also when it fails: Close ends it.
func Start(ctx context.Context, opt Options) (*Cluster, error) {
	c := &Cluster{Options: opt}
	for _, dir := range []string{"logs", "home"} {
		if err := os.MkdirAll(filepath.Join(opt.Folder, dir), 0o700); err != nil {
			return c, err
		}
	}
	if err := c.startStore(ctx); err != nil {
		return c, fmt.Errorf("start the store: %w", err)
	}
	for i := range opt.Voters {
		if err := c.addMember(fmt.Sprint("c", i+1)); err != nil {
			return c, err
		}
	}
	for i, m := range c.Members {
		if err := c.begin(ctx, m, &Life{ID: m.Host, Data: filepath.Join(opt.Folder, m.Host)}, i > 0); err != nil {
			return c, fmt.Errorf("start %s: %w", m.Host, err)
		}
	}
	if err := c.AwaitVotes(ctx, opt.Voters); err != nil {
		return c, err
	}
	for i := range opt.Crew {
		if err := c.addWorker(fmt.Sprint("w", i+1)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Cluster) process(name, host, binary string, env []string, args ...string) *Process {
	return &Process{
		Name: name, prefix: c.Network.prefix(host), binary: binary, args: args,
		log: filepath.Join(c.Folder, "logs", host+".log"), env: process.Bare(filepath.Join(c.Folder, "home"), env...),
	}
}

// startStore starts the S3 server on loopback and the proxy before it. A folder is a bucket to it.
func (c *Cluster) startStore(ctx context.Context) error {
	c.store = deployed.Store{Binary: c.Versitygw, Folder: c.Folder, AccessKey: AccessKey, SecretKey: SecretKey}
	if err := c.store.Prepare(Bucket); err != nil {
		return err
	}
	free, err := process.Addresses(1)
	if err != nil {
		return err
	}
	c.store.Address = free[0]
	server := c.store.Command(nil)
	c.server = c.process("versitygw", Store, c.Versitygw, server.Env, server.Args[1:]...)
	if err := c.server.Start(); err != nil {
		return err
	}
	if err := c.awaitListener(ctx, c.server, c.store.Address); err != nil {
		return err
	}
	listen, err := c.Network.Address(Store, 7070)
	if err != nil {
		return err
	}
	c.storeAt, err = c.StoreProxy(listen, c.store.Address)
	return err
}

// StoreURI is where job objects live.
func (c *Cluster) StoreURI() string { return "s3://" + Bucket + "/cluster" }

// StoreEnv configures an S3 client: for the store itself, or through the proxy as the processes see it.
func (c *Cluster) StoreEnv(direct bool) []string {
	if direct {
		return c.store.Env(c.store.Address)
	}
	return c.store.Env(c.storeAt)
}

// StoreEndpoint is the URL of the store itself, or of the proxy.
func (c *Cluster) StoreEndpoint(direct bool) string {
	if direct {
		return "http://" + c.store.Address
	}
	return "http://" + c.storeAt
}

func (c *Cluster) addWorker(host string) error {
	if err := c.Network.Add(host); err != nil {
		return err
	}
	scratch := filepath.Join(c.Folder, "tmp", host)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	env := slices.Concat(c.StoreEnv(false), c.faultEnv(host), []string{"TMPDIR=" + scratch}, c.Env)
	args := c.first().Worker(host, c.apis(nil), "--slots", "2", "--memory", "256MiB", "--drain-timeout", "5s")
	w := &Worker{Host: host, Scratch: scratch, Process: c.process(host, host, c.Gram, env, args...)}
	c.Workers = append(c.Workers, w)
	return w.Start()
}

// apis are the addresses of every member's API but one's.
func (c *Cluster) apis(but *Member) []string {
	var all []string
	for _, m := range c.Members {
		if m != but {
			all = append(all, m.API)
		}
	}
	return all
}

// Run runs the binary to its end, on the runner's host, and returns what it wrote to stdout.
func (c *Cluster) Run(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Gram, args...)
	cmd.Env = process.Bare(filepath.Join(c.Folder, "home"), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("gram %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// Hosts are those with processes: coordinators, then workers.
func (c *Cluster) Hosts() []string {
	var hosts []string
	for _, p := range c.Processes() {
		hosts = append(hosts, p.Name)
	}
	return hosts
}

// Processes are those of coordinators, then of workers.
func (c *Cluster) Processes() []*Process {
	var all []*Process
	for _, m := range c.Members {
		if life := m.Now(); life != nil {
			all = append(all, life.Process)
		}
	}
	for _, w := range c.Workers {
		all = append(all, w.Process)
	}
	return all
}

// Close kills every process.
func (c *Cluster) Close() {
	for _, p := range append(c.Processes(), c.server) {
		if p != nil {
			p.Kill()
		}
	}
}
