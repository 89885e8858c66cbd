package clustertest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var liarsJobs = flag.Int("liars.jobs", 1, "how many jobs of each sort TestLiars runs with a lying worker of four")

// pointsFile is one of 400 leaves.
func pointsFile(shard int) []byte {
	draw := rand.New(rand.NewPCG(7, uint64(shard)))
	var text strings.Builder
	for range 10 {
		fmt.Fprintf(&text, "p,%.6f,%.6f,%.6f\n", draw.Float64(), draw.Float64(), draw.Float64())
	}
	return []byte(text.String())
}

const liarsSpec = `{"apiVersion":"v1","kind":"KMeans","metadata":{},"spec":{"input":{"uri":"mem://m/in/","format":"csv","label":1,"shard_bytes":300},
	"output":{},"params":{"k":8,"init":"random","max_rounds":10,"tol":0},"repro":{"seed":7},"run":{"audit":%s}}}`

// TestLiars counts, of jobs with a lying worker of four, how many name it and how many end with the right model: k-means of ten rounds over 400
// leaves. One that is wrong in one result of a hundred, with audit 1; and one that is wrong in every one, with the default.
func TestLiars(t *testing.T) {
	store := mem.New("m")
	for shard := range 400 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%03d.csv", shard), pointsFile(shard)); err != nil {
			t.Fatal(err)
		}
	}
	cluster := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	for i := range 3 {
		cluster.Work(t, fmt.Sprint("w", i), 2, kernelops.Generic())
	}
	cluster.Submit(t, "truth", fmt.Sprintf(liarsSpec, "0"))
	truth := cluster.Wait(t, "truth")
	want, err := clustertest.Output(truth, "model.safetensors")
	if err != nil || truth.GetProgress().GetLeaves() != 400 {
		t.Fatalf("%v: %v, %v", truth.GetState(), err, truth.GetProgress())
	}
	t.Logf("a job without liars: %d rounds, %d ms", len(truth.GetRounds()), truth.GetFinishedUnixMs()-truth.GetStartedUnixMs())
	kind, err := all.Lookup("KMeans")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, audit string
		lies        func() bool
		allRight    bool
	}{{"one result of a hundred", "1", oneIn(100), true}, {"every result", "0.01", always, false}} {
		var right, named, failed, wrong, idle int
		for i := range *liarsJobs {
			var lies atomic.Int64 // of this worker, as it says itself
			cluster.KindsWith(lyingKind(kind, func() bool {
				lied := c.lies()
				if lied {
					lies.Add(1)
				}
				return lied
			}))
			stop := cluster.Work(t, "liar", 2, kernelops.Generic())
			id := fmt.Sprintf("%s-%d", strings.ReplaceAll(c.name, " ", "-"), i)
			cluster.Submit(t, id, fmt.Sprintf(liarsSpec, c.audit))
			job := cluster.Wait(t, id)
			stop()
			cluster.KindsWith()
			model, _ := clustertest.Output(job, "model.safetensors")
			for _, w := range job.GetAudit().GetConvicted() {
				if w.GetName() != "liar" {
					t.Errorf("%s convicts %v", id, w)
				}
			}
			switch {
			case job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED:
				failed++
				t.Logf("%s: %v", id, job.GetFailure())
			case string(model.GetSha256()) != string(want.GetSha256()):
				wrong++
			default:
				right++
			}
			if len(job.GetAudit().GetConvicted()) > 0 {
				named++
			} else if lies.Load() == 0 {
				idle++
			}
		}
		t.Logf("%s, audit %s: %d jobs: %d right, %d wrong, %d failed; %d name the liar, in %d it did not lie", c.name, c.audit, *liarsJobs, right, wrong, failed, named, idle)
		if c.allRight && right != *liarsJobs || right*100 < 95**liarsJobs {
			t.Errorf("%s: %d of %d jobs are right", c.name, right, *liarsJobs)
		}
	}
}
