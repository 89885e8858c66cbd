package clustertest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Case is a job over a data set that must give one digest, however it is run.
type Case struct {
	Name string
	// Objects is the data set, by key below the input's prefix.
	Objects map[string][]byte
	// Spec returns the job spec as JSON for an input prefix, a URI that ends in "/".
	Spec func(inputPrefix string) string
	// Digest is the model's SHA-256 in hex, as checked in: it holds other builds
	// (GOAMD64=v3, another release) to the same bits.
	Digest string
	// KillSpec, when set, is a longer job over KillObjects, during which a worker is
	// killed. It is held to the digest of the same job run in one process.
	KillObjects map[string][]byte
	KillSpec    func(inputPrefix string) string
}

// Matrix runs a case under every kernel set, in one process and on clusters of 1, 2
// and 7 worker processes, with job objects and input in memory, in a directory and on an S3
// server, and with a worker killed in mid-round. Every model must have Case.Digest.
// The seven workers have one slot each; fewer have two.
func Matrix(t *testing.T, c Case) {
	t.Helper()
	Binary(t)
	places := []place{directory(t), s3Place(t)}
	for _, set := range kernelops.All() {
		t.Run("one-process/mem/"+set.Name, func(t *testing.T) { oneProcess(t, c, memory(t), set.Name) })
	}
	for _, p := range places {
		input := p.put(t, c.Name, c.Objects)
		for _, set := range kernelops.All() {
			t.Run("one-process/"+p.name+"/"+set.Name, func(t *testing.T) { oneProcessOver(t, c, p, input, set.Name) })
		}
		cluster := StartCluster(t, p.jobStore(t), 2*time.Second, p.env...)
		for _, set := range kernelops.All() {
			for _, workers := range []int{1, 2, 7} {
				name := fmt.Sprintf("cluster/%s/%s/%d-workers", p.name, set.Name, workers)
				t.Run(name, func(t *testing.T) { onCluster(t, c, cluster, input, set.Name, workers) })
			}
		}
		if c.KillSpec != nil {
			killInput := p.put(t, c.Name+"-kill", c.KillObjects)
			want := runHere(t, p, c.KillSpec(killInput), kernelops.Best().Name)
			for _, set := range kernelops.All() {
				t.Run("killed/"+p.name+"/"+set.Name, func(t *testing.T) { killed(t, cluster, c.KillSpec(killInput), set.Name, want) })
			}
		}
	}
}

// place is somewhere that objects can live.
type place struct {
	name     string
	env      []string
	root     string // URI
	store    func(t *testing.T) objstore.Store
	jobStore func(t *testing.T) string
}

// put stores a data set and returns its prefix as a URI.
func (p place) put(t *testing.T, name string, objects map[string][]byte) string {
	t.Helper()
	store := p.store(t)
	for key, data := range objects {
		if _, err := store.Put(t.Context(), path.Join("in", name, key), data); err != nil {
			t.Fatal(err)
		}
	}
	return p.root + "/in/" + name + "/"
}

func s3Place(t *testing.T) place {
	server := s3server.Start(t, s3server.Options{})
	bucket := server.Open(t, "matrix")
	return place{
		name: "versitygw", env: server.Env(), root: "s3://matrix",
		store:    func(*testing.T) objstore.Store { return bucket },
		jobStore: func(*testing.T) string { return "s3://matrix/work" },
	}
}

// oneProcess runs a case with its job objects in memory. Its input is a file: memory
// cannot be filled from outside.
func oneProcess(t *testing.T, c Case, p place, kernels string) {
	oneProcessOver(t, c, p, p.put(t, c.Name, c.Objects), kernels)
}

func oneProcessOver(t *testing.T, c Case, p place, input, kernels string) {
	t.Helper()
	if got := runHere(t, p, c.Spec(input), kernels); got != c.Digest {
		t.Errorf("model %s, want %s", got, c.Digest)
	}
}

// runHere runs `gram run` and returns the digest of the model it wrote.
func runHere(t *testing.T, p place, spec, kernels string) string {
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
	var view struct {
		Outputs []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal([]byte(stdout), &view); err != nil {
		t.Fatalf("gram run printed %q: %v", stdout, err)
	}
	at := slices.IndexFunc(view.Outputs, func(o struct{ Name, SHA256 string }) bool { return o.Name == "model.safetensors" })
	if at < 0 {
		t.Fatalf("gram run names no model: %s", stdout)
	}
	return view.Outputs[at].SHA256
}

func onCluster(t *testing.T, c Case, cluster *Cluster, input, kernels string, workers int) {
	slots := 2
	if workers > 2 {
		slots = 1
	}
	for range workers {
		cluster.Work(t, kernels, slots)
	}
	defer cluster.StopWorkers(t)
	cluster.awaitWorkers(t, workers)
	id := jobID(t)
	cluster.Submit(t, id, c.Spec(input))
	job := cluster.Wait(t, id, time.Minute)
	wantModel(t, job, c.Digest)
}

// killed kills one of two workers while it holds a task of an unfinished round.
func killed(t *testing.T, cluster *Cluster, spec, kernels, want string) {
	cluster.Work(t, kernels, 1)
	cluster.Work(t, kernels, 1)
	defer cluster.StopWorkers(t)
	cluster.awaitWorkers(t, 2)
	id := jobID(t)
	cluster.Submit(t, id, spec)
	victim := cluster.Workers[1]
	cluster.awaitBusy(t, id, "w2")
	victim.Kill()
	if job := cluster.Get(t, id); job.GetProgress().GetRound() != 1 || job.GetProgress().GetLeavesDone() == job.GetProgress().GetLeaves() {
		t.Fatalf("the worker was killed too late to be in mid-round: %v", job.GetProgress())
	}
	job := cluster.Wait(t, id, 2*time.Minute)
	wantModel(t, job, want)
	if status := cluster.status(t); status.GetLeasesExpired() == 0 || status.GetCommittedLeased() != 0 {
		t.Errorf("%d leases expired, %d committed nodes leased; want more than 0, and 0", status.GetLeasesExpired(), status.GetCommittedLeased())
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

func wantModel(t *testing.T, job *pb.Job, want string) {
	t.Helper()
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s ended as %v: %v", job.GetId(), job.GetState(), job.GetFailure())
	}
	model, err := Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(model.GetSha256()); got != want {
		t.Errorf("model %s, want %s", got, want)
	}
}

// jobID is a valid job id made from the test's name.
func jobID(t *testing.T) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()))
	return strings.Trim(id[max(0, len(id)-60):], "-")
}
