package clustertest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A search whose trees have several leaves, of several shards each, gives the same lists in shards of every size, by
// one worker and by three. Edit distances are much work by the pair, so that few texts make several leaves; most
// distances are equal, so that ties decide which neighbors are listed.
func TestRunsOfShardsOnWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("compares 108 million pairs of texts; make test-all does")
	}
	t.Parallel()
	const records = 6000
	r := rand.New(rand.NewPCG(37, 0))
	var table strings.Builder
	for range records {
		word := make([]byte, 2+r.IntN(5))
		for i := range word {
			word[i] = "abc"[r.IntN(3)]
		}
		fmt.Fprintf(&table, "%s\n", word)
	}
	want := ""
	for _, c := range []struct{ workers, shardBytes, leaves int }{
		{1, 1 << 20, 1}, {3, 6500, 5 * 2}, {3, 12_000, 3 * 3},
	} {
		store := mem.New("m")
		if _, err := store.Put(t.Context(), "in/words.csv", []byte(table.String())); err != nil {
			t.Fatal(err)
		}
		cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
		for i := range c.workers {
			cluster.Work(t, fmt.Sprintf("w%d", i), 1, kernelops.Best())
		}
		id := fmt.Sprintf("words-%d-%d", c.workers, c.shardBytes)
		cluster.Submit(t, id, fmt.Sprintf(`{"apiVersion":"v1","kind":"NearestNeighbors","metadata":{"name":"words"},
			"spec":{"input":{"uri":"mem://m/in/words.csv","format":"csv","text":1,"shard_bytes":%d},"output":{},
			"params":{"k":4,"metric":"edit"},"repro":{"seed":7},"run":{}}}`, c.shardBytes))
		job := cluster.Wait(t, id)
		if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
			t.Fatalf("%s ended as %v: %v", id, job.GetState(), job.GetFailure())
		}
		for _, round := range job.GetRounds() {
			if round.GetPhase() == "neighbors" && round.GetLeaves() != uint64(c.leaves) {
				t.Errorf("%s: %d leaves, want %d", id, round.GetLeaves(), c.leaves)
			}
		}
		got := listsOf(t, store, job)
		if lines := strings.Count(got, "\n"); lines != 4*records {
			t.Errorf("%s: %d neighbors of %d records", id, lines, records)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: other lists, first %s, want %s", id, firstOther(got, want), firstOther(want, got))
		}
	}
}

// listsOf are the lists of a search as one file, without headers.
func listsOf(t *testing.T, store objstore.Store, job *pb.Job) string {
	t.Helper()
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	home := path.Dir(strings.TrimPrefix(model.GetUri(), "mem://m/"))
	var index struct{ Parts []struct{ Name string } }
	if err := json.Unmarshal(read(t, store, home+"/neighbors/index.json"), &index); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, part := range index.Parts {
		_, lines, _ := strings.Cut(string(read(t, store, home+"/"+part.Name)), "\n")
		all.WriteString(lines)
	}
	return all.String()
}
