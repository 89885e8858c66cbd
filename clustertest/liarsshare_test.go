package clustertest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
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

// liarsLanes is how many clusters run the jobs of TestLiars at once: a job of tiny leaves waits more than it computes.
const liarsLanes = 4

// liarsCount is what came of jobs with a lying worker.
type liarsCount struct {
	mu                                     sync.Mutex
	right, named, failed, wrong, idle, all int
	well                                   int           // right, and the liar is named or did not lie
	took                                   time.Duration // of all jobs
}

// enough reports whether all jobs are right, where that is wanted, and 95 % are right and name the liar, if it lied.
func (n *liarsCount) enough(allRight bool) bool {
	return n.all > 0 && (!allRight || n.right == n.all) && n.well*100 >= 95*n.all
}

// TestLiars counts, of jobs with a lying worker of four, how many name it and how many end with the right model:
// k-means of ten rounds over 400 leaves. One that is wrong in one result of a hundred, with audit 1; and one that is
// wrong in every one, with the default.
func TestLiars(t *testing.T) {
	for _, c := range []struct {
		name, audit string
		oneIn       int64
		allRight    bool
	}{{"one result of a hundred", "1", 100, true}, {"every result", "0.01", 1, false}} {
		var n liarsCount
		t.Run(c.name, func(t *testing.T) {
			for lane := range min(liarsLanes, *liarsJobs) {
				t.Run(fmt.Sprint(lane), func(t *testing.T) {
					t.Parallel()
					l := newLiarsLane(t)
					for i := lane; i < *liarsJobs; i += liarsLanes {
						l.run(t, fmt.Sprint("j", i), c.audit, oneIn(c.oneIn), &n)
					}
				})
			}
		})
		each := (n.took / time.Duration(max(n.all, 1))).Round(time.Millisecond)
		t.Logf("%s, audit %s: %d jobs, %v each: %d right, %d wrong, %d failed; %d name the liar, in %d it did not lie",
			c.name, c.audit, n.all, each, n.right, n.wrong, n.failed, n.named, n.idle)
		if n.all != *liarsJobs || !n.enough(c.allRight) {
			t.Errorf("%s: %d of %d jobs are right, %d right and name a worker that lied", c.name, n.right, *liarsJobs,
				n.well)
		}
	}
}

// liarsLane is a cluster with three honest workers.
type liarsLane struct {
	*clustertest.Local
	truth []byte // the digest of the model
	kind  jobs.Kind
}

func newLiarsLane(t *testing.T) *liarsLane {
	store := mem.New("m")
	for shard := range 400 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%03d.csv", shard), pointsFile(shard)); err != nil {
			t.Fatal(err)
		}
	}
	l := &liarsLane{Local: clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))}
	for i := range 3 {
		l.Work(t, fmt.Sprint("w", i), 2, kernelops.Generic())
	}
	l.Submit(t, "truth", fmt.Sprintf(liarsSpec, "0"))
	truth := l.Wait(t, "truth")
	model, err := clustertest.Output(truth, "model.safetensors")
	if err != nil || truth.GetProgress().GetLeaves() != 400 {
		t.Fatalf("%v: %v, %v", truth.GetState(), err, truth.GetProgress())
	}
	t.Logf("a job without liars: %d rounds, %d ms", len(truth.GetRounds()),
		truth.GetFinishedUnixMs()-truth.GetStartedUnixMs())
	l.truth = model.GetSha256()
	if l.kind, err = all.Lookup("KMeans"); err != nil {
		t.Fatal(err)
	}
	return l
}

// run runs a job beside a fresh liar, and counts what came of it.
func (l *liarsLane) run(t *testing.T, id, audit string, lies func() bool, n *liarsCount) {
	var lied atomic.Bool // as it says itself
	l.KindsWith(lyingKind(l.kind, func() bool {
		lie := lies()
		if lie {
			lied.Store(true)
		}
		return lie
	}))
	stop := l.Work(t, "liar", 2, kernelops.Generic())
	l.KindsWith()
	begun := time.Now()
	l.Submit(t, id, fmt.Sprintf(liarsSpec, audit))
	job := l.Wait(t, id)
	took := time.Since(begun)
	stop()
	model, _ := clustertest.Output(job, "model.safetensors")
	convicted := job.GetAudit().GetConvicted()
	named := len(convicted) > 0
	for _, w := range convicted {
		if w.GetName() != "liar" {
			t.Errorf("%s convicts %v", id, w)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all++
	n.took += took
	switch {
	case job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED:
		n.failed++
		t.Logf("%s: %v", id, job.GetFailure())
	case string(model.GetSha256()) != string(l.truth):
		n.wrong++
		t.Logf("%s has a wrong model; %v", id, job.GetAudit())
	default:
		n.right++
		if named || !lied.Load() {
			n.well++
		}
	}
	if named {
		n.named++
	} else if !lied.Load() {
		n.idle++
	}
}

// The bounds of TestLiars at 200 jobs: it fails from the eleventh on that does not name the liar.
func TestLiarsAreToBeNamed(t *testing.T) {
	for _, c := range []struct {
		right, well int
		allRight    bool
		want        bool
	}{
		{200, 200, true, true}, {200, 190, true, true}, {200, 189, true, false}, {199, 199, true, false},
		{190, 190, false, true}, {200, 189, false, false}, {0, 0, false, false},
	} {
		n := liarsCount{all: 200, right: c.right, well: c.well}
		if n.enough(c.allRight) != c.want {
			t.Errorf("%+v: %v", c, !c.want)
		}
	}
	if new(liarsCount).enough(false) {
		t.Error("no jobs are enough")
	}
}
