package clustertest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// beforeCounts is NaiveBayes that does something before each leaf of its second phase.
func beforeCounts(t *testing.T, do func()) jobs.Kind {
	t.Helper()
	kind, err := all.Lookup("NaiveBayes")
	if err != nil {
		t.Fatal(err)
	}
	plain := kind.New
	kind.New = func(spec protocol.JobSpec) (jobs.Algorithm, error) {
		algorithm, err := plain(spec)
		if err != nil {
			return nil, err
		}
		phases := jobs.Phases(algorithm.Phases())
		phases[1] = interrupted{phases[1], do}
		return phases, nil
	}
	return kind
}

type interrupted struct {
	jobs.Phase
	do func()
}

func (p interrupted) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (partial, newCarry jobs.Arrays, err error) {
	p.do()
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// logs is a worker's log.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// damages are what may become of the files of a scratch directory between two rounds.
var damages = map[string]func(path string) error{
	"nothing": func(string) error { return nil },
	"removed": os.Remove,
	"cut":     func(path string) error { return os.Truncate(path, 3) },
	"a flipped bit": func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 {
			return err
		}
		data[len(data)/2] ^= 8
		return os.WriteFile(path, data, 0o600)
	},
}

// Texts that memory has no room for go to disk. Whatever happens to them there, the model is the same, and nothing is
// left when the worker ends.
func TestScratchChangesNoModel(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	want, _ := modelWithScratch(t, cluster, "plain", "", 0, func() {})
	for name, damage := range damages {
		dir, found := t.TempDir(), 0
		var once sync.Once
		got, log := modelWithScratch(t, cluster, strings.ReplaceAll(name, " ", "-"), dir, 1<<20, func() {
			once.Do(func() { found = damageAll(t, dir, damage) })
		})
		if got != want {
			t.Errorf("%s: the model is %s, want %s", name, got, want)
		}
		if found == 0 {
			t.Errorf("%s: no file was in the scratch directory", name)
		}
		if said := log.has("read again"); said != (name != "nothing") {
			t.Errorf("%s: the log says that something was read again: %v", name, said)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left (%v)", name, left, err)
		}
	}
	got, log := modelWithScratch(t, cluster, "full", t.TempDir(), 1, func() {})
	if got != want || !log.has("is full") {
		t.Errorf("without room: the model is %s, want %s; the log has %q", got, want, log.text.String())
	}
}

// damageAll damages all files, and returns how many there were.
func damageAll(t *testing.T, dir string, damage func(path string) error) int {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	for _, path := range files {
		err = errors.Join(err, damage(path))
	}
	if err != nil {
		t.Error(err)
	}
	return len(files)
}

// modelWithScratch is the digest of the model that a worker with next to no memory makes, and the worker's log. Between
// is done before each leaf of the second phase.
func modelWithScratch(t *testing.T, cluster *clustertest.Local, id, dir string, limit int64, between func()) (string,
	*logs) {
	t.Helper()
	log := new(logs)
	cluster.KindsWith(beforeCounts(t, between))
	cluster.TuneWith(func(cfg *worker.Config) {
		cfg.Memory, cfg.Scratch, cfg.ScratchLimit = 16<<10, dir, limit
		cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	stop := cluster.Work(t, id, 1, kernelops.Best())
	defer stop()
	spec := strings.Replace(tinySpec(""), `,"split":{"test":0.2}`, "", 1)
	cluster.Submit(t, id, strings.Replace(spec, `"run":{}`, `"run":{"audit":0}`, 1))
	job := cluster.Wait(t, id)
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("the job ended as %v: %v", job.GetState(), job.GetFailure())
	}
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(model.GetSha256()), log
}
