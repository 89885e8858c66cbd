package state_test

import (
	"slices"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

// drawScheduleCommand mostly draws decisions that fit the state, and now and then anything.
func drawScheduleCommand(t *rapid.T, s state.State, cmd *pb.Command) *pb.Command {
	id := rapid.SampledFrom([]string{"a", "b", "a-", "", "UPPER"}).Draw(t, "schedule")
	switch rapid.IntRange(0, 11).Draw(t, "schedule command") {
	case 0, 1:
		put := putSchedule(id, 0).GetPutSchedule()
		put.Overlap = pb.ScheduleOverlap(rapid.IntRange(0, 5).Draw(t, "overlap"))
		put.Replace = rapid.Bool().Draw(t, "replace")
		cmd.Body = &pb.Command_PutSchedule{PutSchedule: put}
	case 2:
		if rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
			cmd.Body = &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: id}}
		}
	case 4, 5:
		job := &pb.SubmitJob{Id: "a", SpecHash: "h", ScheduleId: id,
			TickUnixMs: rapid.Int64Range(-5, 120).Draw(t, "tick")}
		if sched, ok := s.Schedule(id); ok && rapid.IntRange(0, 9).Draw(t, "odd id") > 0 {
			job.Id = sched.TickJobID(job.TickUnixMs)
		}
		cmd.Body = &pb.Command_Submit{Submit: job}
	case 3:
		cmd.Body = pause(id, rapid.Bool().Draw(t, "paused"), 0).Body
	default:
		tick := fireTick(s, id, 0)
		tick.TickUnixMs = tick.AfterUnixMs + rapid.Int64Range(0, 20).Draw(t, "ahead")
		tick.AfterUnixMs += rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1}).Draw(t, "after")
		tick.Revision += rapid.SampledFrom([]uint64{0, 0, 0, 0, 1}).Draw(t, "revision")
		if rapid.Bool().Draw(t, "fires") {
			tick.Job = &pb.SubmitJob{SpecHash: rapid.SampledFrom([]string{"h", "i"}).Draw(t, "hash")}
		} else {
			tick.Skip = pb.SkipReason(rapid.IntRange(0, 8).Draw(t, "reason"))
			tick.Ticks = rapid.Uint32Range(0, 3).Draw(t, "ticks")
			tick.FirstUnixMs = tick.TickUnixMs - rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "first")
		}
		cmd.Body = &pb.Command_FireTick{FireTick: tick}
	}
	return cmd
}

// jobsOfSchedules are the jobs of ticks that have not ended.
func jobsOfSchedules(s state.State) (ids []string) {
	s.EachActive(func(job *state.Job) bool {
		if job.ScheduleID != "" {
			ids = append(ids, job.ID)
		}
		return true
	})
	return ids
}

// checkLatest: a schedule's latest is the job of the latest tick among those that have succeeded.
// checkLatest: once the clock was set, jobs of ticks that were fired early may wait for their tick.
func checkLatest(t *rapid.T, s state.State, clockSet bool) {
	s.EachSchedule(func(sched *state.Schedule) bool {
		want, tick := "", int64(0)
		s.EachJob(func(job *state.Job) bool {
			own := job.ScheduleID == sched.ID() && job.ID == sched.TickJobID(job.Tick)
			if clockSet && job.ID != sched.LatestJob {
				return true
			}
			if own && job.Stage == pb.JobState_JOB_STATE_SUCCEEDED && (want == "" || job.Tick > tick) {
				want, tick = job.ID, job.Tick
			}
			return true
		})
		if sched.LatestJob != want || sched.LatestTick != tick {
			t.Fatalf("schedule %s: latest is %q of tick %d, want %q of tick %d", sched.ID(), sched.LatestJob,
				sched.LatestTick, want, tick)
		}
		return true
	})
}

// checkTicks: the ticks of a schedule are decided in order, each once, and a fired one has its job.
func checkTicks(t *rapid.T, before, after state.State) {
	after.EachSchedule(func(sched *state.Schedule) bool {
		old, ok := before.Schedule(sched.ID())
		if !ok || old.Number != sched.Number {
			if sched.Fired+sched.Skipped != 0 || len(sched.Recent) != 0 {
				t.Fatalf("schedule %s begins with decisions", sched.ID())
			}
			return true
		}
		decided := sched.Fired + sched.Skipped - old.Fired - old.Skipped
		if early, ok := before.Job(sched.TickJobID(sched.LastTick)); ok && !early.ByHand &&
			sched.LastTick > old.LastTick && decided == 0 {
			return true // fired and counted before the clock was set back
		}
		if (decided > 0) != (sched.LastTick > old.LastTick) || sched.LastTick < old.LastTick ||
			sched.Fired < old.Fired || sched.Revision < old.Revision {
			t.Fatalf("schedule %s went from %+v to %+v", sched.ID(), old, sched)
		}
		if sched.Fired > old.Fired {
			job, ok := after.Job(sched.TickJobID(sched.LastTick))
			if !ok || decided != 1 || sched.Recent[len(sched.Recent)-1].JobID != job.ID {
				t.Fatalf("schedule %s fired %d ticks; the job: %v", sched.ID(), decided, ok)
			}
		}
		return true
	})
}

// checkRunning: the index of a schedule's jobs is what walking all jobs gives.
func checkRunning(t *rapid.T, s state.State) {
	want := make(map[string][]string)
	s.EachActive(func(job *state.Job) bool {
		if sched, ok := s.Schedule(job.ScheduleID); ok && !job.ByHand && job.ID == sched.TickJobID(job.Tick) {
			want[job.ScheduleID] = append(want[job.ScheduleID], job.ID)
		}
		return true
	})
	for _, id := range []string{"a", "b", "a-"} {
		var got []string
		s.EachJobOf(id, func(job *state.Job) bool { got = append(got, job.ID); return true })
		if !slices.Equal(got, want[id]) || s.JobsOf(id) != len(got) {
			t.Fatalf("schedule %s: jobs %v, want %v", id, got, want[id])
		}
	}
}
