package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// dismiss ends the workers and returns the first fault of one.
func (f *fleet) dismiss() error {
	f.stop()
	f.running.Wait()
	f.m.client.CloseIdleConnections()
	return f.fault
}

// fail notes what went wrong with a worker; the fleet ends.
func (f *fleet) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = errors.Join(f.fault, err)
	f.stop()
}

// heartbeat is how often a worker renews leases of the default length.
const heartbeat = 10 * time.Second

// beat tells that the worker lives.
func (f *fleet) beat(ctx context.Context, id string, secret []byte) {
	for pause(ctx, heartbeat) == nil {
		if _, err := f.m.workers.Heartbeat(ctx,
			connect.NewRequest(&pb.HeartbeatRequest{WorkerId: id, Secret: secret})); err != nil {
			f.fail(ctx, fmt.Errorf("heartbeat: %w", err))
			return
		}
	}
}

const (
	// working is how many workers do tasks; audits take two.
	working = 2
	// turns is how often in a second a worker asks for tasks, and reports those that it has held for long enough. One
	// that reports sooner is leased many leaves as one task.
	turns = 4
	held  = 2 * time.Second
)

// work does its share of the rate.
func (f *fleet) work(ctx context.Context, id string, secret []byte) {
	var turn [int(held/time.Second) * turns][]*pb.TaskResult
	for n := 0; pause(ctx, time.Second/turns) == nil; n = (n + 1) % len(turn) {
		if results := turn[n]; len(results) > 0 {
			if _, err := f.m.workers.Complete(ctx,
				connect.NewRequest(&pb.CompleteRequest{WorkerId: id, Secret: secret, Results: results})); err != nil {
				f.fail(ctx, fmt.Errorf("complete: %w", err))
				return
			}
		}
		turn[n] = nil
		tasks, err := f.m.workers.Lease(ctx, connect.NewRequest(&pb.LeaseRequest{WorkerId: id, Secret: secret,
			MaxTasks: uint32(max(1, f.load.rate/turns/working))}))
		if err != nil {
			f.fail(ctx, fmt.Errorf("lease: %w", err))
			return
		}
		for _, task := range tasks.Msg.GetTasks() {
			turn[n] = append(turn[n], f.resultOf(task))
			if task.GetId().GetJobId() == liveJob && task.GetId().GetKind() == pb.TaskKind_TASK_KIND_NODE {
				f.sawLeaves.Do(func() { close(f.planned) })
			}
		}
	}
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
		leaves := uint32(1)
		if id.GetJobId() == liveJob {
			leaves = uint32(f.load.leaves)
		}
		out.Manifest, out.Plan = object("manifest"), object("plan")
		out.Next = &pb.Next{Phase: "counts", Trees: []uint32{leaves}, State: object("state")}
	case pb.TaskKind_TASK_KIND_NODE:
		out.Object = object("partial")
	case pb.TaskKind_TASK_KIND_STEP:
		out.Next = &pb.Next{Done: true, State: modelOf(id.GetJobId()), Metrics: object("metrics"),
			Course: object("course")}
	case pb.TaskKind_TASK_KIND_REPORT:
		model := modelOf(id.GetJobId())
		out.Files = []*pb.OutputFile{{Name: modelFile, Sha256: model.GetSha256(), Size: model.GetSize(),
			Uri: f.m.store + "/" + protocol.OutputPrefix(id.GetJobId()) + modelFile}}
	}
	return &pb.TaskResult{Id: id, Token: task.GetToken(), SpentUs: uint64(held.Microseconds()),
		Outcome: &pb.TaskResult_Output{Output: out}}
}

const modelFile = "model.safetensors"

func modelOf(jobID string) *pb.ObjectRef {
	sum := sha256.Sum256([]byte(jobID))
	return &pb.ObjectRef{Sha256: sum[:], Size: 1000}
}
