package clustertest_test

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(processEnv); text != "" {
		workerProcess(text)
		return
	}
	if clustertest.Raced {
		if err := flag.Set("test.short", "true"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		clustertest.RemoveBinary()
		os.Exit(code)
	}))
}

// memStores opens one memory store by any URI.
func memStores(store objstore.Store) func(context.Context, string) (objstore.Store, error) {
	return func(context.Context, string) (objstore.Store, error) { return store, nil }
}

func tinyCorpus(t *testing.T, store objstore.Store) {
	t.Helper()
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%s\t%s and word%d\n", []string{"ham", "spam"}[i%2],
			[]string{"meeting agenda", "cheap pills"}[i%2], i%17)
	}
	if _, err := store.Put(t.Context(), "in/corpus.tsv", []byte(b.String())); err != nil {
		t.Fatal(err)
	}
}

func tinySpec(extra string) string {
	return `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"tiny"},"spec":{
		"input":{"uri":"mem://m/in/corpus.tsv","format":"tsv","label":1,"text":2,"shard_bytes":1000,"split":{"test":0.2}` + extra + `},
		"output":{},"params":{"alpha":0.5},"repro":{"seed":7},"run":{}}}`
}

func TestJobThroughAClusterOfOne(t *testing.T) {
	store := mem.New("m")
	tinyCorpus(t, store)
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	cluster.Work(t, "w1", 2, kernelops.Generic())
	cluster.Work(t, "w2", 1, kernelops.Generic())
	cluster.Submit(t, "tiny-1", tinySpec(""))
	job := cluster.Wait(t, "tiny-1")
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job ended as %v: %v", job.GetState(), job.GetFailure())
	}
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("model %s, %d rounds, %v", hex.EncodeToString(model.GetSha256()), len(job.GetRounds()), job.GetCounters())
	status, err := cluster.Cluster.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	if n := status.Msg.GetCommittedLeased(); n != 0 {
		t.Errorf("%d committed nodes were leased", n)
	}
}
