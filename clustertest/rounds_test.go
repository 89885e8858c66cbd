package clustertest_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// countingStore counts the reads of input objects.
type countingStore struct {
	objstore.Store
	inputs atomic.Int64
}

func (s *countingStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	if strings.HasPrefix(key, "in/") {
		s.inputs.Add(1)
	}
	return s.Store.Get(ctx, key, opt)
}

// Rounds after the first do not touch the input: one worker reads every shard once, however
// many rounds there are.
func TestLaterRoundsDoNotReadTheInput(t *testing.T) {
	reads := map[int]int64{}
	for _, rounds := range []int{1, 6} {
		store := &countingStore{Store: mem.New("m")}
		fourShards(t, store)
		cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind())
		stop := cluster.Work(t, "w1", 1, kernelops.Generic())
		cluster.Submit(t, "rounds", roundsSpec("mem://m", rounds))
		if job := cluster.Wait(t, "rounds"); job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED ||
			len(job.GetRounds()) != rounds {
			t.Fatalf("%v after %d rounds: %v", job.GetState(), len(job.GetRounds()), job.GetFailure())
		}
		stop()
		reads[rounds] = store.inputs.Load()
	}
	if reads[1] < 4 || reads[6] != reads[1] {
		t.Errorf("reads of the input by number of rounds: %v", reads)
	}
}

func fourShards(t testing.TB, store objstore.Store) {
	t.Helper()
	for shard := range 4 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%d.tsv", shard),
			[]byte(strings.Repeat("x\tsome text\n", 100))); err != nil {
			t.Fatal(err)
		}
	}
}

func roundsSpec(store string, rounds int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pairs","metadata":{},"spec":{"input":{"uri":"%s/in/","format":"tsv","label":1,"text":2,"shard_bytes":1200},
		"output":{},"params":{"rounds":%d},"repro":{"seed":7},"run":{}}}`, store, rounds)
}

// BenchmarkRound is what a round of a job of four tiny shards costs, with job objects and raft
// log in directories and two workers.
func BenchmarkRound(b *testing.B) {
	uri := "file://" + b.TempDir()
	stores := directories(b)
	store, err := stores(b.Context(), uri)
	if err != nil {
		b.Fatal(err)
	}
	fourShards(b, store)
	cluster := clustertest.StartLocal(b, b.TempDir(), uri, 5*time.Second, stores, pairsKind())
	cluster.Work(b, "w1", 1, kernelops.Generic())
	cluster.Work(b, "w2", 1, kernelops.Generic())
	const rounds = 50
	jobs := 0
	for b.Loop() {
		id := fmt.Sprintf("rounds-%d", jobs)
		cluster.Submit(b, id, roundsSpec(uri, rounds))
		job := cluster.Wait(b, id)
		if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED || len(job.GetRounds()) != rounds {
			b.Fatalf("%v after %d rounds: %v", job.GetState(), len(job.GetRounds()), job.GetFailure())
		}
		first, last := job.GetRounds()[0], job.GetRounds()[rounds-1]
		b.ReportMetric(float64(last.GetFinishedUnixMs()-first.GetFinishedUnixMs())/(rounds-1), "ms/round")
		jobs++
	}
}

// directories opens file URIs, and closes them after the test.
func directories(t testing.TB) func(context.Context, string) (objstore.Store, error) {
	return func(_ context.Context, uri string) (objstore.Store, error) {
		store, err := dir.Open(strings.TrimPrefix(uri, "file://"), dir.Options{})
		if err == nil {
			t.Cleanup(func() { store.Close() })
		}
		return store, err
	}
}
