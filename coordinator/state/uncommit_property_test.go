package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// drawUncommit mostly draws what a leader would propose: the makers of an object that the job refers to.
func drawUncommit(t *rapid.T, s state.State) *pb.Uncommit {
	id := rapid.SampledFrom(append(jobsOfSchedules(s), jobIDs[:3]...)).Draw(t, "job")
	cmd := &pb.Uncommit{JobId: id, Reason: pb.UncommitReason(rapid.IntRange(1, 3).Draw(t, "reason")), Message: "m"}
	if rapid.IntRange(0, 19).Draw(t, "odd reason") == 0 {
		cmd.Reason = 0
	}
	job, ok := s.Job(id)
	if ok {
		cmd.Round, cmd.Changes = job.Rounds.Open.Number, job.Counters.Remade.Changes
	}
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		cmd.Changes++
	}
	var objects []state.ObjectID
	if ok {
		job.EachReference(func(o state.ObjectID) { objects = append(objects, o) })
	}
	if len(objects) > 0 && rapid.IntRange(0, 4).Draw(t, "sensible") > 0 {
		cmd.Tasks = job.Lineage().MakersOf(rapid.SampledFrom(objects).Draw(t, "object"))
		return cmd
	}
	for range rapid.IntRange(0, 3).Draw(t, "tasks") {
		cmd.Tasks = append(cmd.Tasks, &pb.TaskID{
			JobId: id, Round: rapid.Uint32Range(0, 4).Draw(t, "round"),
			Kind: pb.TaskKind(rapid.IntRange(0, 5).Draw(t, "kind")),
			Tree: rapid.Uint32Range(0, 1).Draw(t, "tree"), Level: rapid.Uint32Range(0, 3).Draw(t, "level"),
			Index: rapid.Uint32Range(0, 4).Draw(t, "index"),
		})
	}
	return cmd
}

// reopened reports whether a job went back by as many rounds as were taken back, and no further.
func reopened(old, job *state.Job) bool {
	return job.Counters.Remade.Reopened == old.Counters.Remade.Reopened+1 &&
		job.Rounds.Open.Number == old.Rounds.Open.Number-1
}

// checkMakers: whatever an open round reads has a maker, so that it can be made again when it is lost, and what a
// leader proposes for it is accepted.
func checkMakers(t *rapid.T, s state.State) {
	s.EachActive(func(job *state.Job) bool {
		if job.Stage != pb.JobState_JOB_STATE_RUNNING {
			return true
		}
		s.EachObject(func(o state.Object) bool {
			if o.JobID != job.ID {
				return true
			}
			tasks := job.Lineage().MakersOf(state.ObjectID{Round: o.Round, SHA256: o.Ref.SHA256})
			if len(tasks) == 0 {
				t.Fatalf("job %s reads the %s of round %d, which nobody made", job.ID, o.What, o.Round)
			}
			next, reply := state.Apply(s, &pb.Command{Body: &pb.Command_Uncommit{Uncommit: &pb.Uncommit{
				JobId: job.ID, Round: job.Rounds.Open.Number, Changes: job.Counters.Remade.Changes, Tasks: tasks,
				Reason: pb.UncommitReason_UNCOMMIT_REASON_LOST,
			}}})
			if reply.Err != nil {
				t.Fatalf("job %s: the %s of round %d cannot be taken back: %v", job.ID, o.What, o.Round, reply.Err)
			}
			checkTakenBack(t, next, o)
			return true
		})
		return true
	})
}

// checkTakenBack: nobody is to read the object before somebody has made it again.
func checkTakenBack(t *rapid.T, s state.State, lost state.Object) {
	job, _ := s.Job(lost.JobID)
	if job.Ended() || job.Stage == pb.JobState_JOB_STATE_PLANNING {
		return
	}
	s.EachObject(func(o state.Object) bool {
		if o.JobID == lost.JobID && o.Round == lost.Round && o.Ref == lost.Ref && o.Round > 0 {
			t.Fatalf("job %s still reads the %s of round %d, which is lost", lost.JobID, o.What, o.Round)
		}
		return true
	})
}

// Rounds that make the same bytes over and over, with objects lost all the time.
func TestReplayAndSnapshotOfLostObjects(t *testing.T) {
	begin := []*pb.Command{submit("a", "h"), start("a"), completions(planned("a", 3))}
	for round := range uint32(2) {
		root := node("a", round+1, 0, 2, 0, 1)
		root.Output.Carry = ref(1)
		begin = append(begin, completions(root),
			completions(step("a", round+1, &pb.Next{Phase: "p", Trees: []uint32{3}, State: ref(1), Metrics: ref(2)})))
	}
	for _, cmd := range begin {
		cmd.NowUnixMs = 1
	}
	rapid.Check(t, func(t *rapid.T) {
		checkReplay(t, begin, func(t *rapid.T, s state.State) *pb.Command {
			cmd := &pb.Command{NowUnixMs: rapid.SampledFrom([]int64{1, 5, 50}).Draw(t, "now")}
			switch rapid.IntRange(0, 5).Draw(t, "command") {
			case 0:
				return drawCommand(t, s)
			case 1:
				cmd.Body = &pb.Command_Uncommit{Uncommit: drawUncommit(t, s)}
			default:
				cmd.Body = &pb.Command_Complete{Complete: &pb.CompleteTasks{
					Completions: []*pb.Completion{drawCompletion(t, s), drawCompletion(t, s)}}}
			}
			return cmd
		})
	})
}
