package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// spec is of a job whose input nobody reads.
const spec = `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"control"},"spec":{
	"input":{"uri":"file:///nowhere/x.tsv","format":"tsv","label":1,"text":2},"output":{},"run":{}}}`

const modelFile = "model.safetensors"

// result is what came of one job.
type result struct {
	round         time.Duration // from the plan's commit to the lease of the last step
	whole         time.Duration // from submit to the end
	nodes         int           // committed, leaves and merges
	calls         int           // of Lease and Complete
	leaves        int
	leases        []time.Duration // of the calls that brought leaves, ascending
	coordinator   time.Duration   // processor time of the coordinator, of the whole job
	fleet         time.Duration   // and of the workers
	drawn, agreed uint64          // audits
}

// rate is how many nodes were committed in a second of the round.
func (r result) rate() float64 { return float64(r.nodes) / r.round.Seconds() }

// quantile of the leases, by nearest rank.
func (r result) quantile(q float64) time.Duration {
	if len(r.leases) == 0 {
		return 0
	}
	return r.leases[min(int(q*float64(len(r.leases))), len(r.leases)-1)]
}

func (r result) String() string {
	return fmt.Sprintf("%d nodes by %d calls in %.2f s: %.0f nodes/s, %.0f leaves/s; "+
		"lease p50 %d ms, p99 %d ms, slowest %d ms; "+
		"coordinator %.2f s of a processor, workers %.2f s; whole job %.2f s, %d audits",
		r.nodes, r.calls, r.round.Seconds(), r.rate(),
		float64(r.leaves)/r.round.Seconds(), r.quantile(0.5).Milliseconds(), r.quantile(0.99).Milliseconds(),
		r.quantile(1).Milliseconds(), r.coordinator.Seconds(), r.fleet.Seconds(), r.whole.Seconds(), r.agreed)
}

// runJob submits a job and waits for its end.
func (f *fleet) runJob(ctx context.Context, n int) (r result, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*patience)
	defer cancel()
	c := &course{id: fmt.Sprint("job", n)}
	f.mu.Lock()
	f.current = c
	f.mu.Unlock()
	before, err := spent(f.q.processes[0].PID())
	if err != nil {
		return r, err
	}
	began, own := time.Now(), measure.CPUTime()
	if _, err := f.q.jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: c.id, SpecJson: spec})); err != nil {
		return r, err
	}
	job, err := f.await(ctx, c.id)
	r.whole = time.Since(began)
	if err != nil || job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		return r, fmt.Errorf("%s is %v: %v %w", c.id, job.GetState(), job.GetFailure(), err)
	}
	after, err := spent(f.q.processes[0].PID())
	r.fleet = measure.CPUTime() - own
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(c.leases)
	r.coordinator, r.round, r.nodes, r.leaves = after-before, c.mapped.Sub(c.planned), c.nodes,
		f.load.leaves*f.load.rounds
	r.calls, r.leases, r.drawn, r.agreed = c.calls, c.leases, job.GetAudit().GetDrawn(), job.GetAudit().GetAgreed()
	return r, err
}

// await watches a job to its end, as `gram wait` does.
func (f *fleet) await(ctx context.Context, id string) (*pb.Job, error) {
	stream, err := f.q.jobs.Watch(ctx, connect.NewRequest(&pb.WatchRequest{Id: id}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var job *pb.Job
	for stream.Receive() {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		if job = stream.Msg().GetJob(); fault != nil {
			return job, fault
		}
	}
	return job, stream.Err()
}

// resultOf makes a task's result up. It depends on the task alone, so that audits agree.
func (f *fleet) resultOf(task *pb.Task) *pb.TaskResult {
	id := task.GetId()
	object := func(what string) *pb.ObjectRef {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d/%d/%s", id.GetJobId(), id.GetRound(), id.GetLevel(),
			id.GetIndex(), what))
		return &pb.ObjectRef{Sha256: sum[:], Size: 1000}
	}
	out := &pb.TaskOutput{}
	switch id.GetKind() {
	case pb.TaskKind_TASK_KIND_PLAN:
		out.Manifest, out.Plan = object("manifest"), object("plan")
		out.Next = &pb.Next{Phase: "counts", Trees: []uint32{uint32(f.load.leaves)}, State: object("state")}
	case pb.TaskKind_TASK_KIND_NODE:
		out.Object = object("partial")
	case pb.TaskKind_TASK_KIND_STEP:
		out.Next = &pb.Next{Phase: "counts", Trees: []uint32{uint32(f.load.leaves)}, State: object("state"),
			Metrics: object("metrics")}
		if int(id.GetRound()) == f.load.rounds {
			out.Next = &pb.Next{Done: true, State: modelOf(id.GetJobId()), Metrics: object("metrics"),
				Course: object("course")}
		}
	case pb.TaskKind_TASK_KIND_REPORT:
		model := modelOf(id.GetJobId())
		out.Files = []*pb.OutputFile{{Name: modelFile, Sha256: model.GetSha256(), Size: model.GetSize(),
			Uri: f.q.store + "/" + protocol.OutputPrefix(id.GetJobId()) + modelFile}}
	}
	return &pb.TaskResult{Id: id, Token: task.GetToken(), SpentUs: 1, Outcome: &pb.TaskResult_Output{Output: out}}
}

func modelOf(jobID string) *pb.ObjectRef {
	sum := sha256.Sum256([]byte(jobID))
	return &pb.ObjectRef{Sha256: sum[:], Size: 1000}
}
