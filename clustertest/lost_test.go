package clustertest_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var lostFaults = flag.Int("lost.faults", 1,
	"how often each sort of job object is flipped at rest, deleted, and never stored; twice as often "+
		"flipped in transit")

// lossJobs are the jobs that lose objects: k-means whose first centers need carries, and an epoch after the other of
// a perceptron. Nothing is audited: an audit that makes an object again would hide its loss.
var lossJobs = map[string]string{
	"kmeans": `"kind":"KMeans","metadata":{},"spec":{"input":{"uri":"mem://m/in/","format":"csv","label":5,"shard_bytes":2000},
		"output":{},"params":{"k":4,"init":"kmeans||","max_rounds":4},"repro":{"seed":7},"run":{"audit":0}}`,
	"perceptron": `"kind":"Perceptron","metadata":{},"spec":{"input":{"uri":"mem://m/in/","format":"csv","label":5,"shard_bytes":2000},
		"output":{},"params":{"form":"averaged","epochs":3,"over":"mixed"},"repro":{"seed":7},"run":{"audit":0}}`,
}

// fourGroups are 400 records of four columns around four points.
func fourGroups() string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		for range 4 {
			fmt.Fprintf(&b, "%.3f,", float64(i%4*3)+rng.NormFloat64())
		}
		fmt.Fprintf(&b, "g%d\n", i%4)
	}
	return b.String()
}

// lossBench is a cluster over a lossy store, and what its jobs make without faults.
type lossBench struct {
	*clustertest.Local
	store *lossyStore
	want  map[string]string // SHA-256 of the model, by kind
}

func startLossBench(t *testing.T, slots int) *lossBench {
	t.Helper()
	store := newLossyStore(mem.New("m"))
	if _, err := store.Put(t.Context(), "in/a.csv", []byte(fourGroups())); err != nil {
		t.Fatal(err)
	}
	b := &lossBench{store: store, want: map[string]string{}}
	b.Local = clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store))
	for _, name := range []string{"w1", "w2"} {
		b.Work(t, name, slots, kernelops.Generic())
	}
	for kind := range lossJobs {
		job := b.run(t, kind, kind+"-plain")
		b.want[kind] = modelSHA(t, job)
		store.mu.Lock()
		for _, r := range job.GetRounds() {
			store.learn(protocol.ObjectKey("x", r.GetRound(), [32]byte(r.GetState().GetSha256())))
		}
		store.mu.Unlock()
	}
	return b
}

func (b *lossBench) run(t testing.TB, kind, id string) *pb.Job {
	b.Submit(t, id, `{"apiVersion":"v1",`+lossJobs[kind]+`}`)
	return b.Wait(t, id)
}

func modelSHA(t testing.TB, job *pb.Job) string {
	t.Helper()
	file, err := clustertest.Output(job, protocol.ModelFile)
	if err != nil {
		t.Fatalf("job %s: %v: %v", job.GetId(), err, job.GetFailure())
	}
	return hex.EncodeToString(file.GetSha256())
}

// Whatever job object is lost or damaged, at rest, on its way, or before it was stored: the job makes it again, ends
// with the model that it makes without faults, and verifies: so does one that began anew, whose rounds count on.
func TestLostObjectsAreMadeAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some forty jobs; make test-all runs it")
	}
	work := make(chan lossCase)
	var running sync.WaitGroup
	tally := lossTally{counts: map[order]*lossCount{}}
	for range min(1+*lostFaults/50, 4) { // clusters
		b := startLossBench(t, 2)
		for range 16 { // jobs at a time
			running.Go(func() {
				for c := range work {
					job := b.suffer(t, c)
					tally.add(b, c, job)
				}
			})
		}
	}
	for number := range *lostFaults * len(sorts) * len(drawn) {
		what, how := sorts[number%len(sorts)], drawn[number/len(sorts)%len(drawn)]
		rng := rand.New(rand.NewPCG(3, uint64(number)))
		kind := []string{"kmeans", "perceptron"}[rng.IntN(2)]
		if what == aCarry {
			kind = "kmeans" // a perceptron has none
		}
		work <- lossCase{kind: kind, id: fmt.Sprintf("%s-%d", kind, number), order: order{
			sort: what, loss: how, skip: skipOf(rng, what), reads: []int{fewReads, manyReads}[rng.IntN(2)],
		}}
	}
	close(work)
	running.Wait()
	tally.report(t)
}

// skipOf spreads faults over the objects of a sort.
func skipOf(rng *rand.Rand, what sort) int {
	return rng.IntN(map[sort]int{aPlan: 2, aState: 4, aCarry: 3, aPartial: 12}[what])
}

type lossCase struct {
	kind, id string
	order    order
}

// suffer runs a job that loses an object.
func (b *lossBench) suffer(t *testing.T, c lossCase) *pb.Job {
	b.store.mu.Lock()
	b.store.orders[c.id] = []*order{&c.order}
	b.store.mu.Unlock()
	job := b.run(t, c.kind, c.id)
	if _, err := clustertest.Output(job, protocol.ModelFile); err == nil {
		wantVerified(t, checked(t, checkOf(b.store, c.id)))
	}
	return job
}

// lossTally is what became of the jobs that lost objects.
type lossTally struct {
	mu     sync.Mutex
	counts map[order]*lossCount // by sort and loss
}

type lossCount struct{ jobs, struck, remade, anew, failed, wrong int }

func (l *lossTally) add(b *lossBench, c lossCase, job *pb.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := order{sort: c.order.sort, loss: c.order.loss}
	if l.counts[by] == nil {
		l.counts[by] = &lossCount{}
	}
	n := l.counts[by]
	n.jobs++
	b.store.mu.Lock()
	n.struck += b.store.struck[c.id]
	b.store.mu.Unlock()
	if job.GetCounters().GetRemade().GetChanges() > 0 {
		n.remade++
	}
	n.anew += int(job.GetCounters().GetRemade().GetAnew())
	if file, err := clustertest.Output(job, protocol.ModelFile); err != nil {
		n.failed++
	} else if hex.EncodeToString(file.GetSha256()) != b.want[c.kind] {
		n.wrong++
	}
}

func (l *lossTally) report(t *testing.T) {
	var all lossCount
	for _, what := range sorts {
		for _, how := range losses {
			n := l.counts[order{sort: what, loss: how}]
			t.Logf("%-8s %-21s: %d jobs, %d struck, %d made something again, %d beginnings anew, %d failed, %d wrong",
				what, how, n.jobs, n.struck, n.remade, n.anew, n.failed, n.wrong)
			if n.struck < (n.jobs+1)/2 {
				t.Errorf("%s, %s: of %d jobs only %d lost an object", what, how, n.jobs, n.struck)
			}
			if how != inTransit && n.remade == 0 {
				t.Errorf("%s, %s: nothing was made again", what, how)
			}
			all.jobs, all.failed, all.wrong = all.jobs+n.jobs, all.failed+n.failed, all.wrong+n.wrong
		}
	}
	if all.wrong > 0 || all.failed*100 > all.jobs {
		t.Errorf("of %d jobs %d made another model and %d failed", all.jobs, all.wrong, all.failed)
	}
}
