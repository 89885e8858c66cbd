package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// execute computes one task. A nil result means that the lease was lost and
// nobody waits for an answer.
func (w *worker) execute(ctx context.Context, brief *pb.JobBrief, task *pb.Task) *pb.TaskResult {
	started := time.Now()
	w.logs.leased(task)
	output, err := w.compute(ctx, brief, task)
	result := &pb.TaskResult{Id: task.GetId(), Token: task.GetToken()}
	if err == nil {
		took := time.Since(started)
		w.logs.computed(task, took)
		result.SpentUs = uint64(took.Microseconds())
		result.Outcome = &pb.TaskResult_Output{Output: output}
		return result
	}
	if errors.Is(context.Cause(ctx), errLost) {
		w.logs.abandoned(task)
		return nil
	}
	failure := failureOf(ctx, err)
	w.logs.failed(task, failure)
	w.logs.flushNow(ctx, urgently)
	result.Outcome = &pb.TaskResult_Failure{Failure: failure}
	return result
}

// compute does the task's work; a panic in it is the task's fault, not the worker's end.
func (w *worker) compute(ctx context.Context, brief *pb.JobBrief, task *pb.Task) (output *pb.TaskOutput, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.cfg.Logger.Error("panic in a task", "task", taskName(task.GetId()), "cause", cause, "stack",
				string(debug.Stack()))
			err = protocol.TaskFault(protocol.CodePanic, "%v", cause)
		}
	}()
	job, err := w.jobs.open(unwatched(ctx), brief)
	if err != nil {
		return nil, err
	}
	giveBack, err := w.memory.take(ctx, job.wants(brief, task))
	if err != nil {
		return nil, err
	}
	defer giveBack()
	output, err = job.work(ctx, brief, task)
	return output, job.refused(ctx, err)
}

// work does a task of the job.
func (j *job) work(ctx context.Context, brief *pb.JobBrief, task *pb.Task) (*pb.TaskOutput, error) {
	switch task.GetId().GetKind() {
	case pb.TaskKind_TASK_KIND_PLAN:
		return j.plan(ctx)
	case pb.TaskKind_TASK_KIND_NODE:
		return j.node(ctx, task)
	case pb.TaskKind_TASK_KIND_STEP:
		return j.step(ctx, task)
	case pb.TaskKind_TASK_KIND_REPORT:
		return j.report(ctx, brief, task)
	}
	return nil, fmt.Errorf("unknown kind of task %v; the coordinator is of a newer release", task.GetId().GetKind())
}

// maxMessage is how much of a failure's message the coordinator keeps.
const maxMessage = 4 << 10

// failureOf says on the wire what went wrong.
func failureOf(ctx context.Context, err error) *pb.Failure {
	var fault *protocol.Fault
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrDrainTimeout):
		fault = protocol.InfrastructureFault(protocol.CodeDrained, "the worker is going down")
	case errors.As(err, &fault):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// Not the task's own context, so somebody it waited for: most likely the store.
		fault = protocol.InfrastructureFault(protocol.CodeStore, "%v", err)
	default:
		fault = protocol.TaskFault(protocol.CodeInternal, "%v", err)
	}
	failure := &pb.Failure{Code: string(fault.Code), Class: wireClass(fault.Class),
		Message: wireText(fault.Error(), maxMessage)}
	if lost := fault.Lost; lost != nil {
		failure.Lost = &pb.LostObject{Round: lost.Round, Object: &pb.ObjectRef{Sha256: lost.SHA256[:], Size: lost.Size}}
	}
	return failure
}

func wireClass(c protocol.Class) pb.FailureClass {
	switch c {
	case protocol.ClassInput:
		return pb.FailureClass_FAILURE_CLASS_INPUT
	case protocol.ClassInfrastructure:
		return pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE
	}
	return pb.FailureClass_FAILURE_CLASS_TASK
}
