package schedule_test

import (
	"encoding/binary"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func ref(n uint64) *pb.ObjectRef {
	return &pb.ObjectRef{Sha256: binary.BigEndian.AppendUint64(make([]byte, 24), n), Size: 1}
}

func submit(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: id, SpecHash: "h"}}}
}

func start(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_Start{Start: &pb.StartJob{Id: id}}}
}

func completions(list ...*pb.Completion) *pb.Command {
	return &pb.Command{Body: &pb.Command_Complete{Complete: &pb.CompleteTasks{Completions: list}}}
}

func planned(job string, trees ...uint32) *pb.Completion {
	return &pb.Completion{
		Id:     &pb.TaskID{JobId: job, Kind: pb.TaskKind_TASK_KIND_PLAN},
		Output: &pb.TaskOutput{Manifest: ref(1), Plan: ref(2), Next: &pb.Next{Phase: "count", Trees: trees, State: ref(3)}},
	}
}

// nodeDone is the completion of a node; its digest is a function of the node.
func nodeDone(t schedule.Task) *pb.Completion {
	digest := uint64(t.Round)<<56 | uint64(t.Tree)<<40 | uint64(t.Node.Level)<<32 | uint64(t.Node.Index) | 1<<63
	return &pb.Completion{
		Id: &pb.TaskID{
			JobId: t.JobID, Round: t.Round, Kind: t.Kind, Tree: t.Tree, Level: uint32(t.Node.Level), Index: uint32(t.Node.Index),
		},
		Output: &pb.TaskOutput{Object: ref(digest)},
	}
}

// run applies commands and fails the test on a refusal.
func run(t testing.TB, s state.State, commands ...*pb.Command) state.State {
	t.Helper()
	for i, cmd := range commands {
		var reply state.Reply
		if s, reply = state.Apply(s, cmd); reply.Err != nil {
			t.Fatalf("command %d (%v): %v", i, cmd, reply.Err)
		}
	}
	return s
}

func jobOf(s state.State, id string) *state.Job {
	job, _ := s.Job(id)
	return job
}

func node(level, index int) protocol.Node { return protocol.Node{Level: level, Index: index} }
