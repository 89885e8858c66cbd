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

	"connectrpc.com/connect"
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
	return withPhases(kind, func(p jobs.Phase) jobs.Phase { return lyingPhase{p, lies} })
}

// withPhases is a kind whose workers compute other phases in place of its own.
func withPhases(kind jobs.Kind, other func(jobs.Phase) jobs.Phase) jobs.Kind {
	own := kind.New
	kind.New = func(spec protocol.JobSpec) (jobs.Algorithm, error) {
		algorithm, err := own(spec)
		return otherPhases{algorithm, other}, err
	}
	return kind
}

type otherPhases struct {
	jobs.Algorithm
	other func(jobs.Phase) jobs.Phase
}

func (a otherPhases) Phases() (phases []jobs.Phase) {
	for _, p := range a.Algorithm.Phases() {
		phases = append(phases, a.other(p))
	}
	return phases
}

type lyingPhase struct {
	jobs.Phase
	lies func() bool
}

func (p lyingPhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
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
	store  objstore.Store
	rounds int
	truth  []byte // the digest of the model
}

func newBench(t *testing.T, shards int) *bench { return newLongBench(t, shards, 5) }

func newLongBench(t *testing.T, shards, rounds int) *bench {
	t.Helper()
	stores := memStores(textStore(t, shards, 10))
	truth := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, stores, pairsKind())
	truth.Work(t, "truth", 2, kernelops.Generic())
	truth.Submit(t, "truth", auditSpec(rounds, "0"))
	model, err := clustertest.Output(truth.Wait(t, "truth"), "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	truth.Stop(t)
	store := textStore(t, shards, 10)
	local := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), pairsKind())
	return &bench{Local: local, store: store, rounds: rounds, truth: model.GetSha256()}
}

// textStore has shards of texts: one with this number of lines, and each after it with a line more.
func textStore(t *testing.T, shards, lines int) objstore.Store {
	t.Helper()
	store := mem.New("m")
	for shard := range shards {
		text := strings.Repeat("x\tsome text\n", lines+shard)
		if _, err := store.Put(t.Context(), fmt.Sprintf("in/%03d.tsv", shard), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return store
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
	b.Submit(t, id, auditSpec(b.rounds, audit))
	job := b.Wait(t, id)
	model, err := clustertest.Output(job, "model.safetensors")
	if err = errors.Join(err, nil); err != nil || string(model.GetSha256()) != string(b.truth) ||
		job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Errorf("%s: %v, %v, %v; model %x, want %x; %v", id, job.GetState(), job.GetFailure(), err, model.GetSha256(),
			b.truth, job.GetAudit())
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
	if a := b.succeeds(t, "few", "0.01").GetAudit(); a.GetDrawn() < 5+1+1 || a.GetAgreed() != a.GetDrawn() ||
		a.GetWaived() != 0 {
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
	if a := b.succeeds(t, "a", "1").GetAudit(); a.GetAgreed() != 0 || a.GetWaived() != a.GetDrawn() ||
		a.GetWaived() == 0 {
		t.Errorf("%v", a)
	}
}

// One of four is wrong in everything, or now and then: it is named, and the model is right.
func TestALiarIsFoundAndItsWorkMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lies         func() bool
		audit        string
		jobs, rounds int
	}{
		// Of a few rounds the liar may make no step, and no node that is drawn.
		"in everything":              {always, "0.01", 1, 40},
		"in everything, all audited": {always, "1", 1, 5},
		"now and then":               {oneIn(20), "1", 3, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newLongBench(t, 16, c.rounds)
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

// brokenUnit is a phase that one kernel set computes wrongly: a machine with a broken vector unit.
type brokenUnit struct {
	lyingPhase
	set string
}

func (p brokenUnit) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	if ops.Name == p.set {
		return p.lyingPhase.Map(ctx, state, leaf, carry, ops)
	}
	return p.Phase.Map(ctx, state, leaf, carry, ops)
}

// brokenKind is a kind whose leaves the generic kernel set computes wrongly.
func brokenKind() jobs.Kind {
	return withPhases(pairsKind(),
		func(p jobs.Phase) jobs.Phase { return brokenUnit{lyingPhase{p, always}, "generic"} })
}

// onceLying lies once, after the leaf that a worker checks itself by: with other kernels than its own generic ones.
type onceLying struct {
	lyingPhase
	checked *atomic.Bool
}

func (p onceLying) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays,
	ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	partial, carried, err := p.lyingPhase.Map(ctx, state, leaf, carry, ops)
	if ops.Name != "generic" {
		p.checked.Store(true)
	}
	return partial, carried, err
}

func onceLyingKind() jobs.Kind {
	var checked, lied atomic.Bool
	lies := func() bool { return checked.Load() && lied.CompareAndSwap(false, true) }
	return withPhases(pairsKind(), func(p jobs.Phase) jobs.Phase { return onceLying{lyingPhase{p, lies}, &checked} })
}

// A worker alone computes its first leaf by two kernel sets: a broken one makes no model.
func TestAWorkerChecksItself(t *testing.T) {
	t.Parallel()
	if len(kernelops.All()) < 2 {
		t.Skip("this machine runs one kernel set only: a worker has nothing to check itself with")
	}
	b := newBench(t, 4)
	b.KindsWith(brokenKind())
	b.Work(t, "broken", 1, kernelops.Generic())
	b.Submit(t, "a", auditSpec(5, "1"))
	// The first leaf fails on the machine; there is no other, and later attempts are not all checked: what a worker
	// alone has is a share of its leaves. It must have been said.
	job := b.Wait(t, "a")
	lines := logsOf(t, b.Local, "a")
	if !strings.Contains(lines, "this machine computes wrongly") {
		t.Errorf("%v: nobody says so in the job's log:\n%s", job.GetState(), lines)
	}
}

func logsOf(t *testing.T, l *clustertest.Local, id string) string {
	t.Helper()
	stream, err := l.Jobs.Logs(t.Context(), connect.NewRequest(&pb.LogsRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var lines []string
	for stream.Receive() {
		lines = append(lines, stream.Msg().GetLines()...)
	}
	return strings.Join(lines, "\n")
}

// Two workers disagree, and the wrong one is right with another kernel set, or the second time. Both make the task
// again, and no third worker is needed. TestTwoWorkersWaitForAThird has a worker that is always wrong.
func TestTwoWorkersMakeItAgain(t *testing.T) {
	t.Parallel()
	if len(kernelops.All()) < 2 {
		t.Skip("this machine runs one kernel set only: a worker has nothing to make a task again with")
	}
	for name, kind := range map[string]jobs.Kind{
		"a broken vector unit": brokenKind(),
		"one lie":              onceLyingKind(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 8)
			b.KindsWith(kind)
			b.Work(t, "liar", 1, kernelops.Generic())
			b.KindsWith(pairsKind())
			b.Work(t, "honest", 2, kernelops.Generic())
			a := b.succeeds(t, "a", "1").GetAudit()
			if len(a.GetConvicted()) != 1 || a.GetAgain() < 2 || a.GetDisputed() == 0 || a.GetWaived() == 0 {
				t.Fatalf("%v", a)
			}
			liar, than := a.GetConvicted()[0], "worker honest, and than its own with the kernels "
			if liar.GetName() != "liar" || !strings.HasPrefix(liar.GetThan(), than) {
				t.Errorf("convicted: %v", liar)
			}
		})
	}
}

// Two workers disagree, and each insists: the job waits, says what for, and a third worker decides.
func TestTwoWorkersWaitForAThird(t *testing.T) {
	t.Parallel()
	b := newBench(t, 8)
	b.liar(t, "liar", always)
	b.Work(t, "honest", 1, kernelops.Generic())
	b.Submit(t, "a", auditSpec(5, "1"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said := func() string {
		res, err := b.Jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: "a"}))
		if err != nil {
			t.Fatal(err)
		}
		if state := res.Msg.GetJob().GetState(); state == pb.JobState_JOB_STATE_SUCCEEDED ||
			state == pb.JobState_JOB_STATE_FAILED {
			t.Fatalf("it ended with two workers that disagree: %v", res.Msg.GetJob())
		}
		return res.Msg.GetJob().GetReason()
	}
	waits := "waits for a third worker"
	if len(kernelops.All()) > 1 {
		waits = "each insists with another kernel set: " + waits
	}
	clustertest.Poll(ctx, t, "the job to say that it waits", func() bool { return strings.Contains(said(), waits) })
	b.Work(t, "third", 1, kernelops.Generic())
	job := b.Wait(t, "a")
	model, err := clustertest.Output(job, "model.safetensors")
	if err != nil || string(model.GetSha256()) != string(b.truth) || len(job.GetAudit().GetConvicted()) != 1 ||
		job.GetAudit().GetConvicted()[0].GetName() != "liar" {
		t.Errorf("%v, %v, %v", job.GetState(), err, job.GetAudit())
	}
}
