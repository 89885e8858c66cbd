package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// lyingKind is a kind whose workers change one value of what they make, when lies says so.
func lyingKind(kind jobs.Kind, lies func() bool) jobs.Kind {
	honest := kind.New
	kind.New = func(spec protocol.JobSpec) (jobs.Algorithm, error) {
		algorithm, err := honest(spec)
		return lyingAlgorithm{algorithm, lies}, err
	}
	return kind
}

type lyingAlgorithm struct {
	jobs.Algorithm
	lies func() bool
}

func (a lyingAlgorithm) Phases() (phases []jobs.Phase) {
	for _, p := range a.Algorithm.Phases() {
		phases = append(phases, lyingPhase{p, a.lies})
	}
	return phases
}

type lyingPhase struct {
	jobs.Phase
	lies func() bool
}

func (p lyingPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	partial, carried, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	return p.told(partial), carried, err
}

func (p lyingPhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	merged, err := p.Phase.Merge(left, right)
	return p.told(merged), err
}

func (p lyingPhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	next, err := p.Phase.Step(ctx, state, round)
	next.State = p.told(next.State)
	return next, err
}

// told flips a low bit of a value in the largest of the arrays.
func (p lyingPhase) told(a jobs.Arrays) jobs.Arrays {
	largest := ""
	for _, name := range a.Names() {
		if largest == "" || len(a[name].Data) > len(a[largest].Data) {
			largest = name
		}
	}
	if largest == "" || len(a[largest].Data) == 0 || !p.lies() {
		return a
	}
	told := jobs.Arrays{}
	for _, name := range a.Names() {
		told[name] = a[name]
	}
	wrong := told[largest]
	wrong.Data = slices.Clone(wrong.Data)
	wrong.Data[0] ^= 0x10
	told[largest] = wrong
	return told
}

func always() bool { return true }

// oneIn says yes once in n times.
func oneIn(n int64) func() bool {
	var count atomic.Int64
	return func() bool { return count.Add(1)%n == 0 }
}

// bench is a cluster in this process with a job of many leaves and rounds.
type bench struct {
	*clustertest.Local
	truth []byte // the digest of the model
}

func newBench(t *testing.T, shards int) *bench {
	t.Helper()
	store := mem.New("m")
	for shard := range shards {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%03d.tsv", shard), []byte(strings.Repeat("x\tsome text\n", 10+shard))); err != nil {
			t.Fatal(err)
		}
	}
	stores := memStores(objstore.Store(store))
	truth := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, stores, pairsKind())
	truth.Work(t, "truth", 2, kernelops.Generic())
	truth.Submit(t, "truth", auditSpec(5, "0"))
	model, err := clustertest.Output(truth.Wait(t, "truth"), "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	truth.Stop(t)
	store = mem.New("m")
	for shard := range shards {
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%03d.tsv", shard), []byte(strings.Repeat("x\tsome text\n", 10+shard))); err != nil {
			t.Fatal(err)
		}
	}
	return &bench{Local: clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind()), truth: model.GetSha256()}
}

func auditSpec(rounds int, audit string) string {
	return strings.Replace(roundsSpec("mem://m", rounds), `"run":{}`, `"run":{"audit":`+audit+`}`, 1)
}

// liar starts a worker that lies.
func (b *bench) liar(t *testing.T, name string, lies func() bool) {
	t.Helper()
	b.KindsWith(lyingKind(pairsKind(), lies))
	b.Work(t, name, 2, kernelops.Generic())
	b.KindsWith(pairsKind())
}

// succeeds runs a job and wants the right model.
func (b *bench) succeeds(t *testing.T, id, audit string) *pb.Job {
	t.Helper()
	b.Submit(t, id, auditSpec(5, audit))
	job := b.Wait(t, id)
	model, err := clustertest.Output(job, "model.safetensors")
	if err = errors.Join(err, nil); err != nil || string(model.GetSha256()) != string(b.truth) || job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("%s: %v, %v, %v; model %x, want %x; %v", id, job.GetState(), job.GetFailure(), err, model.GetSha256(), b.truth, job.GetAudit())
	}
	return job
}

// Workers that agree: everything is made twice, and nothing is disputed.
func TestAuditsAgree(t *testing.T) {
	t.Parallel()
	b := newBench(t, 8)
	for i := range 3 {
		b.Work(t, fmt.Sprint("w", i), 1, kernelops.Generic())
	}
	a := b.succeeds(t, "all", "1").GetAudit()
	if a.GetDrawn() < 5*2+1 || a.GetAgreed() != a.GetDrawn() || a.GetDisputed() != 0 || len(a.GetConvicted()) != 0 {
		t.Errorf("with audit 1: %v", a)
	}
	if a := b.succeeds(t, "few", "0.01").GetAudit(); a.GetDrawn() < 5+1+1 || a.GetAgreed() != a.GetDrawn() || a.GetWaived() != 0 {
		t.Errorf("with audit 0.01, of five steps, a plan and a phase: %v", a)
	}
	if a := b.succeeds(t, "none", "0").GetAudit(); a.GetDrawn() != 0 {
		t.Errorf("with audit 0: %v", a)
	}
}

// One worker alone cannot be audited: the job ends all the same, and says so.
func TestOneWorkerAloneIsNotAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	b.Work(t, "alone", 2, kernelops.Generic())
	if a := b.succeeds(t, "a", "1").GetAudit(); a.GetAgreed() != 0 || a.GetWaived() != a.GetDrawn() || a.GetWaived() == 0 {
		t.Errorf("%v", a)
	}
}

// One of four is wrong in everything, or now and then: it is named, and the model is right.
func TestALiarIsFoundAndItsWorkMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lies  func() bool
		audit string
		jobs  int
	}{"in everything": {always, "0.01", 1}, "in everything, all audited": {always, "1", 1}, "now and then": {oneIn(20), "1", 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 16)
			b.liar(t, "liar", c.lies)
			for i := range 3 {
				b.Work(t, fmt.Sprint("w", i), 1, kernelops.Generic())
			}
			var named []string
			for i := range c.jobs {
				for _, w := range b.succeeds(t, fmt.Sprint("j", i), c.audit).GetAudit().GetConvicted() {
					named = append(named, w.GetName())
				}
			}
			if strings.Join(named, " ") != "liar" {
				t.Errorf("convicted: %v", named)
			}
		})
	}
}
