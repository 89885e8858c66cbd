package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Case is a job over a data set that must give one digest, however it is run.
type Case struct {
	Name string
	// Objects is the data set, by key below the input's prefix; Queries, where there are
	// any, is the second one.
	Objects, Queries map[string][]byte
	// Model, where there is one, is the model that the job begins from.
	Model []byte
	// Spec returns the job spec as JSON for what it reads.
	Spec func(Inputs) string
	// Digest is the model's SHA-256 in hex, as checked in: it holds other builds
	// (GOAMD64=v3, another release) to the same bits.
	Digest string
	// Index names the index of the parts that the job emits (package jobs/learn/parts), such as
	// "predictions/index.json"; IndexDigest is its SHA-256. Every part is checked against the index.
	Index, IndexDigest string
	// KillSpec, when set, is a longer job over KillObjects, during which a worker is
	// killed. It is held to the digests of the same job run in one process.
	KillObjects map[string][]byte
	KillSpec    func(Inputs) string

	first *string // the rounds of the first run; see result
}

// Inputs are the URIs of what a case reads. Prefixes end in "/"; what the case has not is empty.
type Inputs struct{ Input, Queries, Model string }

// result is what a run of a case leaves: the digests of its model, of its index, and of the record of its last round,
// which covers all nodes and states of all rounds.
type result struct{ model, index, rounds string }

// want is what a run must leave that left got: the digests that are checked in, and the rounds of the run before it.
func (c Case) want(got result) result {
	if *c.first == "" {
		*c.first = got.rounds
	}
	return result{c.Digest, c.IndexDigest, *c.first}
}

// Matrix runs cases under every kernel set, in one process with job objects in memory, and on clusters of 7 worker
// processes over a directory and over an S3 server; under the best set also over both in one process, and on clusters
// of 1 and 2. A worker is killed in mid-round: under the best set over directories, and under the generic one over S3.
// Every model must have Case.Digest.
// The seven workers have one slot each; fewer have two. Cases of one call are jobs of the same
// clusters at the same time.
func Matrix(t *testing.T, cases ...Case) {
	t.Helper()
	Binary(t)
	cases = withFirst(cases)
	for _, set := range kernelops.All() {
		eachCase(t, "one-process/mem/"+set.Name, cases,
			func(t *testing.T, c Case) { oneProcess(t, c, memory(t), set.Name) })
	}
	wants := make(map[string]result) // of the longer jobs
	for _, p := range []place{directory(t), s3Place(t, s3server.Versitygw)} {
		in := make(map[string]Inputs)
		for _, c := range cases {
			in[c.Name] = p.inputs(t, c, c.Name, c.Objects)
		}
		best := kernelops.Best().Name
		eachCase(t, "one-process/"+p.name+"/"+best, cases,
			func(t *testing.T, c Case) { oneProcessOver(t, c, p, in[c.Name], best) })
		cluster := StartCluster(t, p.jobStore(t), 2*time.Second, p.env...)
		for _, set := range kernelops.All() {
			for _, workers := range workersOf(set) {
				name := fmt.Sprintf("cluster/%s/%s/%d-workers", p.name, set.Name, workers)
				t.Run(name, func(t *testing.T) { onCluster(t, cases, p, cluster, in, set.Name, workers) })
			}
		}
		if killed := killSpecs(t, cases, p, wants); len(killed) > 0 {
			t.Run("killed/"+p.name+"/"+p.killed.Name,
				func(t *testing.T) { killInEach(t, cases, p, cluster, killed, p.killed.Name, wants) })
		}
	}
}

// workersOf are the numbers of workers whose clusters run a set. A set takes no part in who gets which leaf, so one
// goes over all numbers, and the others over the most.
func workersOf(set *kernelops.Set) []int {
	if set.Name == kernelops.Best().Name {
		return []int{1, 2, 7}
	}
	return []int{7}
}

// withFirst returns the cases with a place for what the first run of each leaves.
func withFirst(cases []Case) []Case {
	cases = slices.Clone(cases)
	for i := range cases {
		cases[i].first = new(string)
	}
	return cases
}

func eachCase(t *testing.T, name string, cases []Case, run func(*testing.T, Case)) {
	for _, c := range cases {
		t.Run(name+"/"+c.Name, func(t *testing.T) { run(t, c) })
	}
}

// killSpecs stores what the longer jobs read and returns their specs, by case. Their results
// are found by one process, at the first place.
func killSpecs(t *testing.T, cases []Case, p place, wants map[string]result) map[string]string {
	t.Helper()
	specs := make(map[string]string)
	for _, c := range cases {
		if c.KillSpec == nil {
			continue
		}
		specs[c.Name] = c.KillSpec(p.inputs(t, c, c.Name+"-kill", c.KillObjects))
		if _, found := wants[c.Name]; !found {
			wants[c.Name] = runHere(t, c, p, specs[c.Name], kernelops.Best().Name)
		}
	}
	return specs
}

// oneProcess runs a case with its job objects in memory. Its input is a file: memory
// cannot be filled from outside.
func oneProcess(t *testing.T, c Case, p place, kernels string) {
	oneProcessOver(t, c, p, p.inputs(t, c, c.Name, c.Objects), kernels)
}

func oneProcessOver(t *testing.T, c Case, p place, in Inputs, kernels string) {
	t.Helper()
	got := runHere(t, c, p, c.Spec(in), kernels)
	if want := c.want(got); got != want {
		t.Errorf("model, index and last record %s, want %s", got, want)
	}
}

// runHere runs `gram run` and returns the digests of what it wrote.
func runHere(t *testing.T, c Case, p place, spec, kernels string) result {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "spec.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stdout, stderr, code := Run(ctx, t, home, p.env, nil, "run", "-f", "spec.json", "--kernels", kernels,
		"--store", p.jobStore(t), "--out", filepath.Join(home, "models"), "-o", "json")
	if code != 0 {
		t.Fatalf("gram run: exit code %d\n%s%s", code, stdout, stderr)
	}
	var view struct{ Outputs []outputFile }
	if err := json.Unmarshal([]byte(stdout), &view); err != nil {
		t.Fatalf("gram run printed %q: %v", stdout, err)
	}
	return p.result(t, c, view.Outputs)
}

func onCluster(t *testing.T, cases []Case, p place, cluster *Cluster, in map[string]Inputs, kernels string,
	workers int) {
	slots := 2
	if workers > 2 {
		slots = 1
	}
	for range workers {
		cluster.Work(t, kernels, slots)
	}
	defer cluster.StopWorkers(t)
	cluster.awaitWorkers(t, workers)
	for _, c := range cases {
		cluster.Submit(t, jobID(t, c), c.Spec(in[c.Name]))
	}
	for _, c := range cases {
		job := cluster.Wait(t, jobID(t, c), 2*time.Minute)
		p.wantResult(t, c, job, c.want)
		if a := job.GetAudit(); a.GetDisputed() > 0 || len(a.GetConvicted()) > 0 {
			t.Errorf("%s: honest workers disagree: %v", c.Name, a)
		}
	}
}

// killInEach kills, of two workers, one in each job, while it holds a task of an unfinished round.
func killInEach(t *testing.T, cases []Case, p place, cluster *Cluster, specs map[string]string, kernels string,
	wants map[string]result) {
	cluster.Work(t, kernels, 1)
	defer cluster.StopWorkers(t)
	before := cluster.status(t)
	for _, c := range cases {
		if spec := specs[c.Name]; spec != "" {
			cluster.killOne(t, jobID(t, c), spec, kernels)
		}
	}
	for _, c := range cases {
		if specs[c.Name] != "" {
			p.wantResult(t, c, cluster.Wait(t, jobID(t, c), 2*time.Minute),
				func(result) result { return wants[c.Name] })
		}
	}
	status := cluster.status(t) // the leader's own counts: a job's stand still once its report is made
	won := status.GetSpeculativeCopies().GetWon() - before.GetSpeculativeCopies().GetWon()
	if expired := status.GetLeasesExpired() - before.GetLeasesExpired(); expired+won < uint64(len(specs)) ||
		status.GetCommittedLeased() != 0 {
		t.Errorf("%d leases expired, %d speculative copies won, %d committed nodes leased; want at least %d of the first "+
			"two, and 0",
			expired, won, status.GetCommittedLeased(), len(specs))
	}
}

// killOne submits a job and kills a new worker in its first round.
func (c *Cluster) killOne(t *testing.T, id, spec, kernels string) {
	t.Helper()
	victim := c.Work(t, kernels, 1)
	c.awaitWorkers(t, len(c.Workers))
	c.Submit(t, id, spec)
	c.awaitBusy(t, id, fmt.Sprintf("w%d", len(c.Workers)))
	victim.Kill()
	if progress := c.Get(t, id).GetProgress(); progress.GetRound() != 1 ||
		progress.GetLeavesDone() == progress.GetLeaves() {
		t.Fatalf("the worker was killed too late to be in mid-round: %v", progress)
	}
}

// awaitBusy waits until some of the first round is committed and the worker holds a task of the rest.
func (c *Cluster) awaitBusy(t *testing.T, id, worker string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, worker+" to be in mid-round", func() bool {
		progress := c.Get(t, id).GetProgress()
		if progress.GetRound() != 1 || progress.GetLeavesDone() == 0 {
			return false
		}
		return slices.ContainsFunc(c.status(t).GetWorkers(), func(w *pb.WorkerStatus) bool {
			return w.GetName() == worker && w.GetTasks() > 0
		})
	})
}

func (c *Cluster) awaitWorkers(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, fmt.Sprintf("%d workers to register", n), func() bool {
		ready := 0
		for _, w := range c.Workers {
			if strings.Contains(w.Output(), "registered") {
				ready++
			}
		}
		return ready >= n
	})
}

func (c *Cluster) status(t *testing.T) *pb.StatusResponse {
	t.Helper()
	res, err := c.Status.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg
}

// jobID is a valid job id made from the test's name and the case's.
func jobID(t *testing.T, c Case) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()+"-"+c.Name))
	return strings.Trim(id[max(0, len(id)-60):], "-")
}
