package clustertest_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var memoryBudget = flag.String("memory", "",
	"`budget` of the worker in TestMemory, which takes minutes; 128MiB is the least")

// A data set of four times a worker's memory passes every kind of job, or is refused where the model would be
// the data set itself, and the worker never has more than its budget and a tenth resident. Shards are as large as a
// default, or as a person who plans for so little memory would have them: an eighth of the budget.
func TestMemory(t *testing.T) {
	cases := casetest.Of(t, casetest.Memory)
	if *memoryBudget == "" {
		t.Skip("takes minutes; make memory runs it")
	}
	budget, err := protocol.ParseByteSize(*memoryBudget)
	if err != nil {
		t.Fatal(err)
	}
	data := &bigData{dir: t.TempDir(), bytes: 4 * int64(budget), made: map[string]string{}}
	store := t.TempDir()
	cluster := clustertest.StartCluster(t, "file://"+store, 10*time.Second)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			spec := memorySpec(t, c, data, store, int64(budget)/8)
			worker := cluster.Work(t, kernelops.Best().Name, 2, "--memory", *memoryBudget)
			began := time.Now()
			cluster.Submit(t, c.Name, spec)
			job := cluster.Wait(t, c.Name, 20*time.Minute)
			if code := job.GetFailure().GetCode(); code != c.Memory.Fault || code == "" &&
				job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
				t.Errorf("%v: %v", job.GetState(), job.GetFailure())
			}
			if worker.Ended() {
				t.Fatalf("the worker ended:\n%s", worker.Output())
			}
			peak := worker.PeakMemory(t)
			t.Logf("%-24s %4d MiB of %d MiB, %.1f s", c.Name, peak>>20, budget>>20, time.Since(began).Seconds())
			if peak > int64(budget)+int64(budget)/10 {
				t.Errorf("the worker had %d bytes resident; its budget is %d", peak, budget)
			}
			cluster.StopWorkers(t)
		})
	}
}

func memorySpec(t *testing.T, c casetest.Case, d *bigData, store string, shard int64) string {
	t.Helper()
	large := c.Memory
	var more strings.Builder
	if large.Queries != nil {
		fmt.Fprintf(&more, `"queries":{"uri":%q,%s,"shard_bytes":%d},`, d.uri(t, large.Queries), large.Queries.Fields,
			shard)
	}
	if large.Model != "" {
		fmt.Fprintf(&more, `"model":%q,`, "file://"+filepath.Join(store, "models", large.Model, "model.safetensors"))
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{"uri":%q,%s,"shard_bytes":%d},
		%s"output":{},"params":%s,"repro":{"seed":7},"run":{"max_state_bytes":%d}}}`,
		c.Kind, d.uri(t, large.Input), large.Input.Fields, shard, more.String(), c.Params, shard)
}

// bigData makes files of a size, each once.
type bigData struct {
	dir   string
	bytes int64
	made  map[string]string
}

// uri makes a file and returns where it is.
func (d *bigData) uri(t *testing.T, f *casetest.File) string {
	t.Helper()
	if d.made[f.Name] != "" {
		return d.made[f.Name]
	}
	path := filepath.Join(d.dir, f.Name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if err := f.Write(t, w, d.bytes); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	d.made[f.Name] = "file://" + path
	return d.made[f.Name]
}
