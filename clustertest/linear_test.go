package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/chaos/linear"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// What clients of all members see of jobs while leaders are killed, paused and stopped could have
// been seen one call after the other. A paused leader wakes up to calls that began while another led.
func TestClientsSeeOneOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 3, 2*time.Second)
	input := filepath.Join(q.Home, "some.tsv")
	if err := os.WriteFile(input, casetest.Glosses(t, 500), 0o600); err != nil {
		t.Fatal(err)
	}
	q.Work(t, "", 2)
	record, err := history.NewRecorder(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer clients.Wait()
	defer stop()
	callers := newCallers(t, q, record, "file://"+input)
	for _, c := range callers {
		clients.Go(func() { c.run(ctx) })
	}
	disturb(t, q)
	stop()
	clients.Wait()
	q.StopWorkers(t)

	ops := record.Operations()
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[history.Outcome]int)
	for _, op := range ops {
		outcomes[op.Outcome]++
	}
	calls, jobs := linear.Calls(ops)
	t.Logf("%d calls of %d jobs: %v", calls, jobs, outcomes)
	if calls < 500 || jobs < 20 || outcomes[history.Unknown] == 0 {
		t.Errorf("that is too little to judge by")
	}
	if err := linear.Check(ops); err != nil {
		t.Error(err)
	}
}

// disturb takes the lead from one leader after the other.
func disturb(t *testing.T, q *clustertest.Quorum) {
	t.Helper()
	restart := func(m *clustertest.Member) {
		q.Start(t, m)
		q.AwaitListening(t, m)
		q.AwaitVotes(t, len(q.Members))
	}
	pause := func() {
		old := q.Leader(t)
		old.Pause(t)
		awaitAnother(t, q, old)
		timer := time.NewTimer(1500 * time.Millisecond) // in which the new leader takes writes in
		defer timer.Stop()
		<-timer.C
		old.Resume(t)
		q.AwaitVotes(t, len(q.Members))
	}
	pause()
	killed := q.Leader(t)
	killed.Kill()
	awaitAnother(t, q, killed)
	restart(killed)
	pause()
	stopped := q.Leader(t)
	if err := stopped.Stop(t); err != nil {
		t.Error(err)
	}
	restart(stopped)
}

// awaitAnother waits until another member than old says that it leads.
func awaitAnother(t *testing.T, q *clustertest.Quorum, old *clustertest.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "another leader than "+old.ID, func() bool {
		for _, m := range q.Members {
			if m == old || m.Ended() {
				continue
			}
			ask, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			res, err := m.Cluster.Status(ask, connect.NewRequest(&pb.StatusRequest{}))
			cancel()
			if err == nil && res.Msg.GetLeader() != old.ID {
				return true
			}
		}
		return false
	})
}

// caller is a client that calls one member, whatever becomes of it, with ids that all callers use.
type caller struct {
	number int
	member string
	jobs   gramv1connect.JobServiceClient
	specs  []string // as JSON
	hashes []string
	record *history.Recorder
	rng    *rand.Rand
}

func newCallers(t *testing.T, q *clustertest.Quorum, record *history.Recorder, input string) []*caller {
	t.Helper()
	specs := []string{naiveBayes(1<<20, `{"alpha":0.1}`)(clustertest.Inputs{Input: input}),
		naiveBayes(1<<20, `{"alpha":0.2}`)(clustertest.Inputs{Input: input})}
	var hashes []string
	for _, text := range specs {
		spec, err := protocol.ParseSpec([]byte(text))
		if err == nil {
			spec, err = all.Validate(spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		hash, err := spec.Hash()
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	var callers []*caller
	for i := range 9 {
		m := q.Members[i%len(q.Members)]
		callers = append(callers, &caller{
			number: i, member: m.ID, jobs: m.Jobs, specs: specs, hashes: hashes, record: record,
			rng: rand.New(rand.NewPCG(uint64(i), 5)),
		})
	}
	return callers
}

func (c *caller) run(ctx context.Context) {
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			c.record.Add(c.call(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// call makes a call on one of the ids of this half second, or of the last. It gives up soon, so that
// a member that is paused finds calls that began just before it goes on.
func (c *caller) call(ctx context.Context) history.Operation {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	began := c.record.Now()
	id := fmt.Sprintf("j%d-%d", max(0, int(began/(500*time.Millisecond))-c.rng.IntN(2)), c.rng.IntN(4))
	op := history.Operation{Client: c.number, Member: c.member, Job: id, Invoked: began}
	var job *pb.Job
	var err error
	switch n := c.rng.IntN(100); {
	case n < 25:
		spec := min(c.rng.IntN(8), 1) // mostly the same
		op.Kind, op.SpecHash = history.Submit, c.hashes[spec]
		var res *connect.Response[pb.SubmitResponse]
		if res, err = c.jobs.Submit(ctx,
			connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: c.specs[spec]})); err == nil {
			job, op.Created = res.Msg.GetJob(), res.Msg.GetCreated()
		}
	case n < 30:
		op.Kind = history.Cancel
		var res *connect.Response[pb.CancelResponse]
		if res, err = c.jobs.Cancel(ctx, connect.NewRequest(&pb.CancelRequest{Id: id})); err == nil {
			job = res.Msg.GetJob()
		}
	default:
		op.Kind = history.Get
		var res *connect.Response[pb.GetResponse]
		if res, err = c.jobs.Get(ctx, connect.NewRequest(&pb.GetRequest{Id: id})); err == nil {
			job = res.Msg.GetJob()
		}
	}
	op.Returned = c.record.Now()
	return answeredWith(op, job, err)
}

func answeredWith(op history.Operation, job *pb.Job, err error) history.Operation {
	op.Outcome = history.OK
	if err == nil {
		op.Seen = &history.Job{
			ID: job.GetId(), SpecHash: job.GetSpecHash(), Round: job.GetProgress().GetRound(),
			State: history.State(strings.ToLower(strings.TrimPrefix(job.GetState().String(), "JOB_STATE_"))),
		}
		if model, err := clustertest.Output(job, "model.safetensors"); err == nil {
			op.Seen.Model = fmt.Sprintf("%x", model.GetSha256())
		}
		return op
	}
	op.Outcome, op.Error = history.Unknown, err.Error()
	var coded *connect.Error
	if errors.As(err, &coded) {
		op.Code = coded.Code().String()
	}
	if op.Code == history.NotFound || op.Code == history.AlreadyExists {
		op.Outcome = history.Refused
	}
	return op
}
