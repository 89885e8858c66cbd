package clustertest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"github.com/gram-compute/gram/worker"
)

// deadlyPhase counts records, takes its time, and ends its process as the kernel ends one that takes too much
// memory, at one of them.
type deadlyPhase struct{ readPhase }

func (p deadlyPhase) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays,
	_ *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	n := int64(0)
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, text := range block.Texts {
			if bytes.Contains(text, []byte("deadly")) {
				if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
					return nil, nil, err
				}
			}
			n++
		}
	}
	select {
	case <-time.After(100 * time.Millisecond): // so that kills meet it
	case <-ctx.Done():
	}
	return counted(n), nil, ctx.Err()
}

type deadlyJob struct{}

func (deadlyJob) Phases() []jobs.Phase {
	return []jobs.Phase{deadlyPhase{readPhase{sumPhase{"read"}, 1}}}
}

func deadlyKind() jobs.Kind {
	kind := pairsKind()
	kind.Name, kind.UsesQueries, kind.UsesModel = "Deadly", false, false
	kind.New = func(protocol.JobSpec) (jobs.Algorithm, error) { return deadlyJob{}, nil }
	return kind
}

func deadlyKinds(string) (jobs.Kind, error) { return deadlyKind(), nil }

// processConfig is what a worker process of this test is told, in its environment.
type processConfig struct{ URL, Token, CA, Store string }

const processEnv = "GRAM_TEST_WORKER_PROCESS"

// workerProcess makes this program a worker instead of tests.
func workerProcess(text string) {
	var cfg processConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		panic(err)
	}
	token, err := gate.ParseToken(cfg.Token)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cfg.CA))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true}}
	if err := worker.Run(context.Background(), worker.Config{
		Client: gramv1connect.NewWorkerServiceClient(client, cfg.URL, clustertest.WithToken(token)),
		Slots:  2, Ops: kernelops.Generic(), Kind: deadlyKinds, OpenStore: dirStores(cfg.Store),
	}); err != nil {
		panic(err)
	}
}

func dirStores(path string) func(context.Context, string) (objstore.Store, error) {
	return func(context.Context, string) (objstore.Store, error) { return dir.Open(path, dir.Options{}) }
}

// supervised keeps a number of worker processes going, as a Deployment does, and can kill them.
type supervised struct {
	mu      sync.Mutex
	running []*exec.Cmd
	ended   bool
	deaths  int
	tasks   sync.WaitGroup
}

func supervise(t *testing.T, cfg processConfig, workers int) *supervised {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &supervised{running: make([]*exec.Cmd, workers)}
	for i := range workers {
		s.tasks.Go(func() {
			for s.run(t, i, processEnv+"="+string(text)) {
			}
		})
	}
	t.Cleanup(s.stop)
	return s
}

// run runs one process to its end; false means that there shall be no other.
func (s *supervised) run(t *testing.T, i int, env string) bool {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	err := cmd.Start()
	s.running[i] = cmd
	s.mu.Unlock()
	if err != nil {
		t.Error(err)
		return false
	}
	_ = cmd.Wait() // it is killed, whatever happens
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths++
	return !s.ended
}

func (s *supervised) kill(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cmd := s.running[i]; cmd != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
}

// count is how many processes have ended.
func (s *supervised) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaths
}

func (s *supervised) stop() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	for i := range s.running {
		s.kill(i)
	}
	s.tasks.Wait()
}

// A record that ends the process of every worker that reads it fails its job by the leaf, and workers that are
// killed while at work on sound jobs fail none.
func TestARecordThatEndsWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	path := t.TempDir()
	store, err := dir.Open(path, dir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	line := "ham\tmeeting agenda\n"
	for name, text := range map[string]string{"sound": strings.Repeat(line, 900), "bad": strings.Repeat(line, 250) +
		"ham\tdeadly\n" + strings.Repeat(line, 100)} {
		if _, err := store.Put(t.Context(), name+"/corpus.tsv", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	cluster := clustertest.StartLocal(t, filepath.Join(t.TempDir(), "data"), "mem://m", time.Second, dirStores(path),
		deadlyKind())
	workers := supervise(t, processConfig{URL: cluster.URL(), Token: cluster.WorkerToken().Reveal(),
		CA: string(cluster.CAPEM()), Store: path}, 2)
	spec := func(folder string) string {
		text := strings.Replace(strings.Replace(tinySpec(""), "NaiveBayes", "Deadly", 1), `"alpha":0.5`, "", 1)
		return strings.Replace(text, "mem://m/in", "mem://m/"+folder, 1)
	}
	killSome := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		ticker := time.NewTicker(400 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ticker.C:
				workers.kill(i % 2)
			case <-killSome:
				return
			}
		}
	})
	cluster.Submit(t, "sound", spec("sound"))
	sound := cluster.Wait(t, "sound")
	close(killSome)
	killer.Wait()
	if sound.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || workers.count() == 0 {
		t.Errorf("with workers killed at random the job ended as %v: %v", sound.GetState(), sound.GetFailure())
	}
	cluster.Submit(t, "bad", spec("bad"))
	failure := cluster.Wait(t, "bad").GetFailure()
	// 6,661 bytes in seven even shards of 951 or 952: the record begins at byte 4,750.
	if failure.GetCode() != string(protocol.CodeWorkerDied) || !strings.Contains(failure.GetMessage(), "leaf 4") {
		t.Errorf("failed with %v", failure)
	}
	t.Logf("%d processes ended in all", workers.count())
}
