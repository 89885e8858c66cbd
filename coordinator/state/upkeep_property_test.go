package state_test

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func drawUpkeepCommand(t *rapid.T, s state.State, cmd *pb.Command) *pb.Command {
	id := rapid.SampledFrom(append(jobsOfSchedules(s), jobIDs[:4]...)).Draw(t, "job")
	alias := rapid.SampledFrom([]string{"x", "y", "UPPER"}).Draw(t, "alias")
	check, expect := rapid.Bool().Draw(t, "check"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "expect")
	switch rapid.IntRange(0, 4).Draw(t, "upkeep") {
	case 0:
		cmd.Body = &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{
			KeepMs: rapid.Int64Range(-1, 60).Draw(t, "keep"), ByHand: rapid.Bool().Draw(t, "by hand"),
			Jobs: []*pb.RetireJob{{Id: id, OwnOutput: check}},
		}}
	case 1:
		var list []*pb.RetireJob
		for _, id := range jobIDs {
			list = append(list, &pb.RetireJob{Id: id})
		}
		cmd.Body = &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{KeepMs: 5, Jobs: list}}
	case 2:
		cmd.Body = &pb.Command_MarkSwept{MarkSwept: &pb.MarkSwept{Ended: jobIDs[:2], Retired: []string{id}}}
	case 3:
		cmd.Body = &pb.Command_SetAlias{SetAlias: &pb.SetAlias{Name: alias, JobId: id, Check: check, ExpectJob: expect}}
	case 4:
		cmd.Body = &pb.Command_RemoveAlias{RemoveAlias: &pb.RemoveAlias{Name: alias, Check: check, ExpectJob: expect}}
	}
	return cmd
}

// The same from a state with models, a schedule that has one, and a job in its third round.
func TestReplayAndSnapshotOfUpkeep(t *testing.T) {
	var begin []*pb.Command
	for _, id := range []string{"a", "b"} {
		begin = append(begin, submit(id, "h"), start(id), completions(planned(id, 1)),
			completions(node(id, 1, 0, 0, 0, 1)),
			completions(step(id, 1, &pb.Next{Done: true, State: ref(1)})), completions(report(id)))
	}
	begin = append(begin, submit("c", "h"), start("c"), completions(planned("c", 2)))
	for round := range uint32(2) {
		begin = append(begin, completions(node("c", round+1, 0, 1, 0, 1)),
			completions(step("c", round+1, &pb.Next{Phase: "p", Trees: []uint32{2}, State: ref(1), Metrics: ref(2)})))
	}
	for _, cmd := range begin {
		cmd.NowUnixMs = 1
	}
	rapid.Check(t, func(t *rapid.T) {
		checkReplay(t, begin, func(t *rapid.T, s state.State) *pb.Command {
			if rapid.Bool().Draw(t, "any") {
				return drawCommand(t, s)
			}
			return drawUpkeepCommand(t, s,
				&pb.Command{NowUnixMs: rapid.SampledFrom([]int64{1, 5, 50, 40 * day}).Draw(t, "now")})
		})
	})
}

// checkRetired: what is gone was ended and unnamed, and is remembered.
func checkRetired(t *rapid.T, before, after state.State, old *state.Job) {
	gone, known := after.Retired.Get(old.ID)
	if !known || gone.Number != old.Number || gone.RetiredAt != after.Now {
		t.Fatalf("job %s is gone, and remembered as %+v", old.ID, gone)
	}
	if by := before.Names().Of(old); !old.Ended() || by != "" {
		t.Fatalf("job %s is gone in state %v, named by %q", old.ID, old.Stage, by)
	}
}

// checkGarbage: what is garbage once stays so, and is no object that is referred to.
func checkGarbage(t *rapid.T, old, job *state.Job) {
	before, after := old.Garbage(100*day), job.Garbage(100*day) // all of the universe's times have passed
	for round := range uint32(5) {
		for digest := range byte(4) {
			o := state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}
			if before.Has(o) && !after.Has(o) && job.Counters.Violations == 0 {
				t.Fatalf("job %s: object %d of round %d was garbage and is needed again", job.ID, digest, round)
			}
		}
	}
	job.EachReference(func(o state.ObjectID) {
		if after.Has(o) || before.Has(o) {
			t.Fatalf("job %s: object %x of round %d is garbage and referred to", job.ID, o.SHA256[31], o.Round)
		}
	})
}

// checkNamed: whatever names a job names one that is there, and no id means two things.
func checkNamed(t *rapid.T, s state.State) {
	s.EachAlias(func(a state.Alias) bool {
		if job, ok := s.Job(a.JobID); !ok || !job.HasModel() {
			t.Fatalf("alias %s means job %s, which is not there with a model", a.Name, a.JobID)
		}
		return true
	})
	s.EachActive(func(job *state.Job) bool {
		for _, id := range append([]string{job.ModelJob}, job.Needs...) {
			if _, ok := s.Job(id); id != "" && !ok {
				t.Fatalf("job %s needs %s, which is gone", job.ID, id)
			}
		}
		return true
	})
	s.EachSchedule(func(sched *state.Schedule) bool {
		if _, ok := s.Job(sched.LatestJob); sched.LatestJob != "" && !ok {
			t.Fatalf("the latest job of schedule %s is gone", sched.ID())
		}
		return true
	})
	s.Retired.Each(func(r state.Retired) bool {
		if _, ok := s.Job(r.ID); ok {
			t.Fatalf("job %s is there and retired", r.ID)
		}
		return true
	})
}
