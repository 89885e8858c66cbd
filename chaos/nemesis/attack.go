package nemesis

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

const (
	bombers   = 60                     // calls at a time
	bombSize  = 1500 << 20             // bytes, decompressed
	roguePace = 100 * time.Millisecond // between two rounds of calls
)

// bomb makes compressed calls that would fill a leader's memory and time, until it is healed.
func (n *Nemesis) bomb(ctx context.Context, f Fault) (func() error, error) {
	m, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	payload, err := n.payload()
	if err != nil {
		return nil, err
	}
	token, err := n.Cluster.Token("admin")
	if err != nil {
		return nil, err
	}
	client, _, err := n.Cluster.Client()
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, m.Now().ID)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var calling sync.WaitGroup
	for range bombers {
		calling.Go(func() {
			for ctx.Err() == nil {
				drop(ctx, client, "https://"+m.API+"/gram.v1.JobService/List", token, payload)
			}
		})
	}
	return func() error {
		stop()
		calling.Wait()
		client.CloseIdleConnections()
		return nil
	}, nil
}

// drop makes one call; whatever comes of it, refusals and hang-ups included, is right.
func drop(ctx context.Context, client *http.Client, url, token string, payload []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(req)
	if err != nil {
		wait(ctx, 10*time.Millisecond)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body) // a hang-up is as good an answer
	res.Body.Close()
}

// payload is the bomb, made once.
func (n *Nemesis) payload() ([]byte, error) {
	if n.bombed != nil {
		return n.bombed, nil
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range bombSize >> 20 {
		if _, err := w.Write(blanks); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	n.bombed = out.Bytes()
	return n.bombed, err
}

// rogue holds a worker's token and no task: it registers under a true worker's id and reports results and failures
// for every task it can guess, until it is healed.
func (n *Nemesis) rogue(ctx context.Context, f Fault) (func() error, error) {
	m, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	token, err := n.Cluster.Token("worker")
	if err != nil {
		return nil, err
	}
	client, admin, err := n.Cluster.Client()
	if err != nil {
		return nil, err
	}
	r := &intruder{
		rng:     rand.New(rand.NewPCG(uint64(f.Pick), 0x52)),
		jobs:    gramv1connect.NewJobServiceClient(client, "https://"+m.API, admin),
		workers: gramv1connect.NewWorkerServiceClient(client, "https://"+m.API, n.Cluster.Bearer(token)),
		status:  n.Cluster.ClusterOf(m),
	}
	n.Say("%v (%s)", f, m.Now().ID)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var calling sync.WaitGroup
	calling.Go(func() {
		for wait(ctx, roguePace) {
			r.attack(ctx)
		}
	})
	return func() error {
		stop()
		calling.Wait()
		client.CloseIdleConnections()
		if r.calls == 0 { // another fault befell the leader meanwhile
			n.Say("the rogue worker got no call through")
		}
		return nil
	}, nil
}

// intruder is a rogue worker.
type intruder struct {
	rng     *rand.Rand
	jobs    gramv1connect.JobServiceClient
	workers gramv1connect.WorkerServiceClient
	status  gramv1connect.ClusterServiceClient
	calls   int // that were answered, refusals included
}

// attack makes one round of calls. What is refused is as it should be; what is not, the checker finds.
func (r *intruder) attack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if status, err := r.status.Status(ctx, connect.NewRequest(&pb.StatusRequest{})); err == nil {
		for _, w := range status.Msg.GetWorkers() {
			_, err := r.workers.Register(ctx,
				connect.NewRequest(&pb.RegisterRequest{WorkerId: w.GetName(), Name: "rogue", Slots: 1, MemoryBytes: 1}))
			r.count(err)
		}
	}
	list, err := r.jobs.List(ctx, connect.NewRequest(&pb.ListRequest{Limit: 20}))
	if err != nil {
		return
	}
	for _, job := range list.Msg.GetJobs() {
		if job.GetFinishedUnixMs() == 0 {
			_, err := r.workers.Complete(ctx,
				connect.NewRequest(&pb.CompleteRequest{WorkerId: "rogue", Results: r.results(job)}))
			r.count(err)
		}
	}
}

func (r *intruder) count(err error) {
	if err == nil || connect.CodeOf(err) != connect.CodeUnavailable &&
		connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		r.calls++
	}
}

// results are made up: for the step, the first leaf and the plan, as results and as failures.
func (r *intruder) results(job *pb.Job) []*pb.TaskResult {
	var results []*pb.TaskResult
	for _, kind := range []pb.TaskKind{pb.TaskKind_TASK_KIND_NODE, pb.TaskKind_TASK_KIND_STEP,
		pb.TaskKind_TASK_KIND_PLAN, pb.TaskKind_TASK_KIND_REPORT} {
		id := &pb.TaskID{JobId: job.GetId(), Round: job.GetProgress().GetRound(), Kind: kind}
		output := &pb.TaskOutput{Object: r.object(), Next: &pb.Next{Done: true, State: r.object()}}
		results = append(results,
			&pb.TaskResult{Id: id, Token: &pb.LeaseToken{Term: 1, Sequence: r.rng.Uint64()},
				Outcome: &pb.TaskResult_Output{Output: output}},
			&pb.TaskResult{Id: id, Outcome: &pb.TaskResult_Failure{Failure: &pb.Failure{Code: "ROGUE",
				Class: pb.FailureClass_FAILURE_CLASS_INPUT, Message: fmt.Sprint("made up for ", kind)}}})
	}
	return results
}

func (r *intruder) object() *pb.ObjectRef {
	sum := make([]byte, 32)
	for i := range sum {
		sum[i] = byte(r.rng.Uint32())
	}
	return &pb.ObjectRef{Sha256: sum, Size: 100}
}
