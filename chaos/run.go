package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gram-compute/gram/chaos/checker"
	"github.com/gram-compute/gram/chaos/cluster"
	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/chaos/nemesis"
	"github.com/gram-compute/gram/chaos/storefault"
	"github.com/gram-compute/gram/chaos/workload"
	"github.com/gram-compute/gram/objstore/s3"
	"golang.org/x/sys/unix"
)

const (
	members  = 3
	leaseTTL = 5 * time.Second
	// endBound is I9: how long jobs may take to end after the last fault.
	endBound = 90 * time.Second
)

// trial is one run: a cluster, its clients and its nemesis.
type trial struct {
	settings
	began    time.Time
	cluster  *cluster.Cluster
	proxy    *storefault.Proxy
	store    *s3.Store // the bucket, without the proxy
	data     workload.Data
	specs    []workload.Spec
	expected map[string]checker.Spec
	record   *history.Recorder
	load     *workload.Workload
	nemesis  *nemesis.Nemesis
	exits    []nemesis.Exit
	usage    usage
	archive  *archive

	mu    sync.Mutex // guards version
	shift int        // the version of the object that is replaced
}

// outcome is what a run shows.
type outcome struct {
	results []checker.Result
	trial   *trial
	facts   facts
}

func violated(o *outcome) bool { return checker.Violated(o.results) }

// once makes one run and shows it.
func once(ctx context.Context, s settings) (*outcome, error) {
	t := &trial{settings: s, began: time.Now()}
	keep := s.folder != ""
	if !keep {
		dir, err := os.MkdirTemp("", "gram-chaos-*")
		if err != nil {
			return nil, err
		}
		t.folder = dir
	}
	var err error
	if t.folder, err = filepath.Abs(t.folder); err == nil {
		err = os.MkdirAll(t.folder, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if err := enoughDisk(t.folder); err != nil {
		return nil, err
	}
	o, err := t.run(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w\nwhat was written so far is in %s", err, t.folder)
	case s.brief:
		return o, nil // a hunt keeps and shows what is worth it
	case violated(o):
		keep = true
		fmt.Printf("\neverything is kept in %s\nagain: make chaos MINUTES=%v SEED=%d\n", t.folder, s.minutes, s.seed)
	case keep:
		fmt.Printf("\neverything is kept in %s\n", t.folder)
	}
	if !keep {
		err = os.RemoveAll(t.folder)
	}
	return o, err
}

// enoughDisk refuses a disk on which coordinators would soon take no jobs (docs/operations.md), and a run show nothing.
func enoughDisk(folder string) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return fmt.Errorf("free space of %s: %w", folder, err)
	}
	const gib = 1 << 30
	free, all := disk.Bavail*uint64(disk.Bsize), disk.Blocks*uint64(disk.Bsize)
	if need := min(all/10, 2*gib) + gib; free < need {
		return fmt.Errorf("%s has %d MiB of free space: coordinators take no jobs on a disk that is nearly full; have %d MiB free, or name a folder elsewhere with -folder", folder, free>>20, need>>20)
	}
	return nil
}

func (t *trial) say(format string, args ...any) {
	fmt.Printf("%7.1f s  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

// run starts everything, lets it go on for its time, and judges.
func (t *trial) run(ctx context.Context) (_ *outcome, err error) {
	if t.gram, err = filepath.Abs(t.gram); err != nil {
		return nil, err
	}
	if t.versitygw, err = filepath.Abs(t.versitygw); err != nil {
		return nil, err
	}
	net := t.network()
	defer func() { err = errors.Join(err, net.Close()) }()
	t.cluster, err = cluster.Start(ctx, cluster.Options{
		Gram: t.gram, Versitygw: t.versitygw, Folder: t.folder, Voters: members, Crew: t.workers, LeaseTTL: leaseTTL,
		Network: net, Flags: t.flags(), Env: t.env, StoreProxy: t.startProxy, Faults: t.faults,
	})
	defer t.cluster.Close()
	if t.proxy != nil {
		defer func() { err = errors.Join(err, t.proxy.Close()) }()
	}
	if err != nil {
		return nil, err
	}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	defer t.store.Close()
	defer t.load.Close()
	waited, err := t.act(ctx)
	if err != nil {
		return nil, err
	}
	evidence, err := t.gather(ctx, waited)
	if err != nil {
		return nil, fmt.Errorf("gather what was left: %w", err)
	}
	if err := t.record.Close(); err != nil {
		return nil, err
	}
	t.say("judging %d operations on %d jobs", len(evidence.Operations), len(evidence.Jobs))
	o := &outcome{results: checker.Check(ctx, evidence), trial: t, facts: t.facts(evidence)}
	if !t.brief {
		show(os.Stdout, o)
	}
	return o, nil
}

// flags have what is done every hour done every few seconds, and jobs retired after minutes. What is swept has been
// garbage for longer than anything is paused.
func (t *trial) flags() []string {
	return []string{"--snapshot-entries", fmt.Sprint(t.snapshots), "--checkpoint-every", "200",
		"--sweep-every", "5s", "--sweep-grace", "1m", "--keep-jobs", t.keep.String()}
}

// network makes namespaces where it can.
func (t *trial) network() *cluster.Network {
	if t.loopback {
		return cluster.Loopback(errors.New("-loopback: there is no network to part"))
	}
	net, err := cluster.Namespaces()
	if err != nil {
		fmt.Printf("no partitions: %v\n", err)
		return cluster.Loopback(err)
	}
	return net
}

func (t *trial) startProxy(listen, server string) (string, error) {
	var err error
	t.proxy, err = storefault.Start(listen, server, "/"+cluster.Bucket+"/cluster/", t.seed)
	return listen, err
}

// prepare stores the input, finds what fault-free runs make of it, and readies clients and nemesis.
func (t *trial) prepare(ctx context.Context) (err error) {
	t.say("seed %d: %d coordinators, %d workers, %d clients; %s", t.seed, members, t.workers, t.clients, t.where())
	t.store, err = s3.Open(s3.Config{Bucket: cluster.Bucket, Endpoint: t.cluster.StoreEndpoint(true),
		Region:    "us-east-1",
		AccessKey: cluster.AccessKey, SecretKey: cluster.SecretKey})
	if err != nil {
		return err
	}
	if t.specs, err = workload.Specs(cluster.Bucket); err != nil {
		return err
	}
	t.choose()
	if t.data, err = workload.ReadData(t.testdata); err != nil {
		return err
	}
	if err := t.data.Put(ctx, t.store); err != nil {
		return err
	}
	if err := t.reference(ctx); err != nil {
		return fmt.Errorf("fault-free runs: %w", err)
	}
	if t.record, err = history.NewRecorder(filepath.Join(t.folder, "history.jsonl")); err != nil {
		return err
	}
	cfg := workload.Config{Clients: t.clients, MaxActive: t.active, Seed: t.seed, Specs: t.specs,
		Schedules: t.schedules,
		Recent:    t.keep / 2, Record: t.record, HTTP: t.cluster.Client}
	for _, m := range t.cluster.Members {
		cfg.Members = append(cfg.Members, workload.Member{Name: m.Host, API: m.API})
	}
	if t.load, err = workload.New(cfg); err != nil {
		return err
	}
	t.nemesis = &nemesis.Nemesis{Cluster: t.cluster, Store: t.proxy, ReplaceInput: t.replaceInput, Say: t.say}
	return t.load.CreateSchedules(ctx)
}

// choose leaves the specs that the run is aimed at.
func (t *trial) choose() {
	if len(t.aim.specs) > 0 {
		t.specs = slices.DeleteFunc(t.specs,
			func(s workload.Spec) bool { return !slices.Contains(t.aim.specs, s.Name) })
	}
}

func (t *trial) where() string {
	if t.cluster.Network.Namespaces {
		return "each in a network namespace of its own"
	}
	return "on loopback"
}

func (t *trial) replaceInput(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shift++
	return t.data.Shift(ctx, t.store, t.shift)
}

// act runs clients and faults, then waits, with everything healed, until every job has ended. It returns
// how long that took.
func (t *trial) act(ctx context.Context) (waited time.Duration, err error) {
	length := time.Duration(t.minutes * float64(time.Minute)) //lint:checked minutes of a person's life
	plan := nemesis.Draw(t.seed, length, t.kinds...)
	if err := t.keepPlan(plan); err != nil {
		return 0, err
	}
	loadCtx, stopLoad := context.WithCancel(ctx)
	watchCtx, stopWatch := context.WithCancel(ctx)
	var working, watching sync.WaitGroup
	working.Go(func() { t.load.Run(loadCtx) })
	t.usage = make(usage)
	watching.Go(func() { t.exits = t.nemesis.Supervise(watchCtx) })
	watching.Go(func() { t.watchUsage(watchCtx) })
	watching.Go(func() { t.watchJobs(watchCtx) })
	defer watching.Wait()
	defer stopWatch()
	err = t.nemesis.Run(ctx, plan)
	stopLoad()
	working.Wait()
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	t.say("all is healed; waiting for the jobs to end")
	return t.awaitEnd(ctx)
}

func (t *trial) keepPlan(plan []nemesis.Round) error {
	text, err := json.MarshalIndent(plan, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.folder, "plan.json"), text, 0o600)
}

// reference finds the models of every spec, by runs of one process.
func (t *trial) reference(ctx context.Context) error {
	t.expected = make(map[string]checker.Spec)
	for _, s := range t.specs {
		want := checker.Spec{Name: s.Name}
		versions := 1
		if s.Shifts {
			versions, want.MayFail = workload.Versions, []string{"INPUT_CHANGED"}
		}
		for i := range versions {
			if err := t.data.Shift(ctx, t.store, i); err != nil {
				return err
			}
			model, err := t.runHere(ctx, s, i)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			want.Models = append(want.Models, model)
		}
		t.expected[s.Hash] = want
	}
	return t.data.Shift(ctx, t.store, 0)
}

// runHere is `gram run` of a spec, with the generic kernels; it returns the model's SHA-256.
func (t *trial) runHere(ctx context.Context, s workload.Spec, version int) (string, error) {
	dir := filepath.Join(t.folder, "reference", fmt.Sprintf("%s-%d", s.Name, version))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "spec.json")
	if err := os.WriteFile(file, []byte(s.JSON), 0o600); err != nil {
		return "", err
	}
	text, err := t.cluster.Run(ctx, t.cluster.StoreEnv(true), "run", "-f", file, "--kernels", "generic", "--slots", "1",
		"--out", filepath.Join(dir, "models"), "-o", "json")
	if err != nil {
		return "", err
	}
	var view struct {
		Outputs []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal([]byte(text), &view); err != nil {
		return "", err
	}
	for _, o := range view.Outputs {
		if o.Name == "model.safetensors" {
			return o.SHA256, nil
		}
	}
	return "", errors.New("no model")
}
