package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func putSchedule(id string, now int64) *pb.Command {
	return &pb.Command{NowUnixMs: now, Body: &pb.Command_PutSchedule{PutSchedule: &pb.PutSchedule{
		Id: id, JobJson: []byte("{}"), Cron: "0 2 * * *", TimeZone: "UTC",
		Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, CatchUp: pb.CatchUp_CATCH_UP_LATEST,
	}}}
}

// fireSlot is the decision that a proposer who sees s would make on a slot.
func fireSlot(s state.State, id string, slot int64) *pb.FireSlot {
	cmd := &pb.FireSlot{ScheduleId: id, SlotUnixMs: slot}
	if sched, ok := s.Schedule(id); ok {
		cmd.Revision, cmd.AfterUnixMs = sched.Revision, sched.LastSlot
	}
	return cmd
}

func firing(cmd *pb.FireSlot) *pb.Command {
	return &pb.Command{NowUnixMs: cmd.SlotUnixMs, Body: &pb.Command_FireSlot{FireSlot: cmd}}
}

func fire(s state.State, id string, slot int64) *pb.Command {
	cmd := fireSlot(s, id, slot)
	cmd.Job = &pb.SubmitJob{Kind: "K", SpecHash: "h"}
	return firing(cmd)
}

func skip(s state.State, id string, first, last int64, slots uint32) *pb.Command {
	cmd := fireSlot(s, id, last)
	cmd.FirstUnixMs, cmd.Slots, cmd.Skip = first, slots, pb.SkipReason_SKIP_REASON_MISSED
	return firing(cmd)
}

func pause(id string, paused bool, now int64) *pb.Command {
	if paused {
		return &pb.Command{NowUnixMs: now, Body: &pb.Command_PauseSchedule{PauseSchedule: &pb.PauseSchedule{Id: id}}}
	}
	return &pb.Command{NowUnixMs: now, Body: &pb.Command_ResumeSchedule{ResumeSchedule: &pb.ResumeSchedule{Id: id}}}
}

func wantRefused(t *testing.T, s state.State, cmd *pb.Command, want state.Reason) {
	t.Helper()
	next, reply := state.Apply(s, cmd)
	if reply.Err == nil || reply.Err.Reason != want {
		t.Fatalf("%v: %v, want a refusal for reason %d", cmd, reply.Err, want)
	}
	if !next.SameSchedules(s) || next.JobCount() != s.JobCount() {
		t.Fatalf("%v was refused and changed something", cmd)
	}
}

func TestASlotFiresOnce(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	entry := fire(s, "n", 2000)
	s, reply := run(t, s, entry)
	if !reply.Created || reply.Job.ScheduleID != "n" || reply.Job.Slot != 2000 || reply.Job.ID != reply.Schedule.SlotJobID(2000) {
		t.Fatalf("created %v: %+v", reply.Created, reply.Job)
	}
	if !state.ValidJobID(reply.Job.ID) || !strings.HasPrefix(reply.Job.ID, "n-") {
		t.Errorf("job id %q", reply.Job.ID)
	}
	wantRefused(t, s, entry, state.Conflict) // the same entry again
	wantRefused(t, s, fire(s, "n", 2000), state.Conflict)
	wantRefused(t, s, fire(s, "n", 1500), state.Conflict)
	lost := fireSlot(s, "n", 4000)
	lost.AfterUnixMs, lost.Job = 3000, &pb.SubmitJob{SpecHash: "h"}
	wantRefused(t, s, firing(lost), state.Conflict) // slot 3000 was never decided
	s, _ = run(t, s, skip(s, "n", 3000, 5000, 3))
	run(t, s, fire(s, "n", 6000))
}

func TestSkipsCoverSlotsInARow(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for _, odd := range []*pb.Command{skip(s, "n", 1000, 2000, 2), skip(s, "n", 3000, 2000, 1), skip(s, "n", 2000, 2000, 2), skip(s, "n", 2000, 3000, 1), skip(s, "n", 2000, 3000, 0)} {
		wantRefused(t, s, odd, state.Malformed)
	}
	both := fireSlot(s, "n", 2000)
	wantRefused(t, s, firing(both), state.Malformed) // neither job nor reason
	both.Job, both.Skip = &pb.SubmitJob{}, pb.SkipReason_SKIP_REASON_LATE
	wantRefused(t, s, firing(both), state.Malformed)
	s, reply := run(t, s, skip(s, "n", 2000, 4000, 3))
	if reply.Schedule.Skipped != 3 || reply.Schedule.LastSlot != 4000 || s.JobCount() != 0 {
		t.Fatalf("%+v", reply.Schedule)
	}
	for slot := int64(5000); slot < 30_000; slot += 1000 {
		s, reply = run(t, s, fire(s, "n", slot))
	}
	if got := reply.Schedule.Recent; len(got) != state.MaxSlotRecords || got[len(got)-1].Slot != 29_000 {
		t.Errorf("%d records kept, the last %+v", len(got), got[len(got)-1])
	}
}

func TestPutScheduleIsIdempotentAndReplacesWhenAsked(t *testing.T) {
	s, first := run(t, state.New(), putSchedule("n", 1000))
	s, _ = run(t, s, fire(s, "n", 2000))
	s, again := run(t, s, putSchedule("n", 3000))
	if again.Schedule.Revision != first.Schedule.Revision || again.Schedule.LastSlot != 2000 {
		t.Fatalf("the same definition again: %+v", again.Schedule)
	}
	other := putSchedule("n", 4000)
	other.GetPutSchedule().Cron = "0 3 * * *"
	wantRefused(t, s, other, state.Conflict)
	stale := fire(s, "n", 5000)
	other.GetPutSchedule().Replace = true
	s, changed := run(t, s, other)
	if changed.Schedule.LastSlot != 2000 || changed.Schedule.Since != 4000 || changed.Schedule.Number != first.Schedule.Number {
		t.Fatalf("replaced: %+v", changed.Schedule)
	}
	wantRefused(t, s, stale, state.Conflict) // decided by the old expression
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "n"}}})
	wantRefused(t, s, stale, state.NotFound)
	_, anew := run(t, s, putSchedule("n", 9000))
	if anew.Schedule.SlotJobID(2000) == first.Schedule.SlotJobID(2000) {
		t.Error("a schedule made anew shares its jobs' ids with the one removed")
	}
}

func TestDefinitionsAreBounded(t *testing.T) {
	for name, spoil := range map[string]func(*pb.PutSchedule){
		"id":       func(p *pb.PutSchedule) { p.Id = strings.Repeat("a", 41) },
		"no job":   func(p *pb.PutSchedule) { p.JobJson = nil },
		"big job":  func(p *pb.PutSchedule) { p.JobJson = make([]byte, 64<<10+1) },
		"cron":     func(p *pb.PutSchedule) { p.Cron = "" },
		"zone":     func(p *pb.PutSchedule) { p.TimeZone = strings.Repeat("x", 65) },
		"overlap":  func(p *pb.PutSchedule) { p.Overlap = 5 },
		"catch-up": func(p *pb.PutSchedule) { p.CatchUp = pb.CatchUp_CATCH_UP_ALL },
		"max":      func(p *pb.PutSchedule) { p.CatchUpMax = 3 },
		"deadline": func(p *pb.PutSchedule) { p.StartDeadlineMs = -1 },
		"jitter":   func(p *pb.PutSchedule) { p.JitterMs = 1 << 40 },
	} {
		cmd := putSchedule("n", 1)
		spoil(cmd.GetPutSchedule())
		if _, reply := state.Apply(state.New(), cmd); reply.Err == nil || reply.Err.Reason != state.Malformed {
			t.Errorf("%s: %v", name, reply.Err)
		}
	}
}

func TestReplaceCancelsTheEarlierJobInTheSameEntry(t *testing.T) {
	cmd := putSchedule("n", 1000)
	cmd.GetPutSchedule().Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE
	other := putSchedule("n-1", 1000)
	s, _ := run(t, state.New(), cmd, other)
	s, first := run(t, s, fire(s, "n", 2000))
	s, beside := run(t, s, fire(s, "n-1", 2000))
	s, second := run(t, s, fire(s, "n", 3000))
	if old, _ := s.Job(first.Job.ID); old.Stage != pb.JobState_JOB_STATE_CANCELLED {
		t.Errorf("the earlier job is %v", old.Stage)
	}
	if job, _ := s.Job(beside.Job.ID); job.Ended() {
		t.Error("another schedule's job was cancelled")
	}
	if s.JobsOf("n") != 1 || second.Job.Ended() {
		t.Errorf("%d jobs of the schedule have not ended", s.JobsOf("n"))
	}
}

// A schedule that takes the id of one that was removed has nothing to do with its jobs.
func TestJobsOfARemovedScheduleGoOn(t *testing.T) {
	cmd := putSchedule("n", 1000)
	cmd.GetPutSchedule().Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE
	s, _ := run(t, state.New(), cmd)
	s, first := run(t, s, fire(s, "n", 2000))
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "n"}}}, cmd)
	if s.JobsOf("n") != 0 {
		t.Errorf("the new schedule has %d jobs", s.JobsOf("n"))
	}
	s, second := run(t, s, fire(s, "n", 3000))
	if old, _ := s.Job(first.Job.ID); old.Ended() || s.JobsOf("n") != 1 || second.Job.Ended() {
		t.Errorf("the job of the removed schedule is %v; the new one has %d", old.Stage, s.JobsOf("n"))
	}
}

func TestAJobMadeByHandIsTheSlotsIfItsSpecIs(t *testing.T) {
	s, made := run(t, state.New(), putSchedule("n", 1000))
	same, other := made.Schedule.SlotJobID(2000), made.Schedule.SlotJobID(3000)
	s, _ = run(t, s, submit(same, "h"), submit(other, "x"))
	s, reply := run(t, s, fire(s, "n", 2000))
	if reply.Created || reply.Schedule.Fired != 1 {
		t.Errorf("created %v, %+v", reply.Created, reply.Schedule)
	}
	_, reply = run(t, s, fire(s, "n", 3000))
	if last := reply.Schedule.Recent[1]; last.Skip != pb.SkipReason_SKIP_REASON_CONFLICT || reply.Schedule.Skipped != 1 {
		t.Errorf("%+v", last)
	}
}

// succeed takes a job to its end.
func succeed(t *testing.T, s state.State, id string) state.State {
	t.Helper()
	s, _ = run(t, s, start(id), completions(planned(id, 1), node(id, 1, 0, 0, 0, 1), step(id, 1, &pb.Next{Done: true, State: ref(3)}), report(id)))
	if job, _ := s.Job(id); job.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s is %v", id, job.Stage)
	}
	return s
}

// The latest moves when a job succeeds, not when it fails or ends after a later slot's.
func TestLatestMovesOnSuccessOnly(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	ids := make(map[int64]string)
	for _, slot := range []int64{2000, 3000, 4000} {
		var reply state.Reply
		s, reply = run(t, s, fire(s, "n", slot))
		ids[slot] = reply.Job.ID
	}
	want := func(slot int64) {
		t.Helper()
		if sched, _ := s.Schedule("n"); sched.LatestJob != ids[slot] || sched.LatestSlot != slot {
			t.Fatalf("latest is %q of slot %d, want that of %d", sched.LatestJob, sched.LatestSlot, slot)
		}
	}
	want(0)
	s = succeed(t, s, ids[3000])
	want(3000)
	s = succeed(t, s, ids[2000])
	want(3000)
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: ids[4000], Failure: &pb.Failure{Code: "X"}}}})
	want(3000)
	byHand := submit("", "h")
	sched, _ := s.Schedule("n")
	ids[3500] = sched.SlotJobID(3500)
	byHand.GetSubmit().Id, byHand.GetSubmit().ScheduleId, byHand.GetSubmit().SlotUnixMs = ids[3500], "n", 3500
	s, made := run(t, s, byHand)
	if s.JobsOf("n") != 0 || !made.Job.ByHand {
		t.Errorf("a job by hand is under the overlap policy: %+v", made.Job)
	}
	s = succeed(t, s, ids[3500])
	want(3500)
}

// A job by hand bears the id of its slot and no other, and ends without effect on another schedule of its name.
func TestJobsByHandAreOfTheirSlot(t *testing.T) {
	s, made := run(t, state.New(), putSchedule("n", 1000))
	cmd := submit(made.Schedule.SlotJobID(2000), "h")
	cmd.GetSubmit().ScheduleId, cmd.GetSubmit().SlotUnixMs = "n", 3000
	wantRefused(t, s, cmd, state.Conflict)
	cmd.GetSubmit().SlotUnixMs = 2000
	wantRefused(t, state.New(), cmd, state.NotFound)
	s, _ = run(t, s, cmd, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "n"}}}, putSchedule("n", 5000))
	s = succeed(t, s, cmd.GetSubmit().GetId())
	if sched, _ := s.Schedule("n"); sched.LatestJob != "" {
		t.Errorf("the latest is of the schedule that was removed: %+v", sched)
	}
}

// A slot is not used up while there is no room for its job.
func TestASlotWaitsForRoom(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for i := range state.MaxActiveJobs {
		s, _ = run(t, s, submit("j"+strings.Repeat("x", i%50)+string(rune('a'+i/50)), "h"))
	}
	wantRefused(t, s, fire(s, "n", 2000), state.Exhausted)
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "ja"}}})
	_, reply := run(t, s, fire(s, "n", 2000))
	if !reply.Created {
		t.Error("there is room and no job was made")
	}
}

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
		job := &pb.SubmitJob{Id: "a", SpecHash: "h", ScheduleId: id, SlotUnixMs: rapid.Int64Range(-5, 120).Draw(t, "slot")}
		if sched, ok := s.Schedule(id); ok && rapid.IntRange(0, 9).Draw(t, "odd id") > 0 {
			job.Id = sched.SlotJobID(job.SlotUnixMs)
		}
		cmd.Body = &pb.Command_Submit{Submit: job}
	case 3:
		cmd.Body = pause(id, rapid.Bool().Draw(t, "paused"), 0).Body
	default:
		slot := fireSlot(s, id, 0)
		slot.SlotUnixMs = slot.AfterUnixMs + rapid.Int64Range(0, 20).Draw(t, "ahead")
		slot.AfterUnixMs += rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1}).Draw(t, "after")
		slot.Revision += rapid.SampledFrom([]uint64{0, 0, 0, 0, 1}).Draw(t, "revision")
		if rapid.Bool().Draw(t, "fires") {
			slot.Job = &pb.SubmitJob{SpecHash: rapid.SampledFrom([]string{"h", "i"}).Draw(t, "hash")}
		} else {
			slot.Skip = pb.SkipReason(rapid.IntRange(0, 8).Draw(t, "reason"))
			slot.Slots = rapid.Uint32Range(0, 3).Draw(t, "slots")
			slot.FirstUnixMs = slot.SlotUnixMs - rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "first")
		}
		cmd.Body = &pb.Command_FireSlot{FireSlot: slot}
	}
	return cmd
}

// jobsOfSchedules are the jobs of slots that have not ended.
func jobsOfSchedules(s state.State) (ids []string) {
	s.EachActive(func(job *state.Job) bool {
		if job.ScheduleID != "" {
			ids = append(ids, job.ID)
		}
		return true
	})
	return ids
}

// checkLatest: a schedule's latest is the job of the latest slot among those that have succeeded.
// checkLatest: once the clock was set, jobs of slots that were fired early may wait for their slot.
func checkLatest(t *rapid.T, s state.State, clockSet bool) {
	s.EachSchedule(func(sched *state.Schedule) bool {
		want, slot := "", int64(0)
		s.EachJob(func(job *state.Job) bool {
			own := job.ScheduleID == sched.ID() && job.ID == sched.SlotJobID(job.Slot)
			if clockSet && job.ID != sched.LatestJob {
				return true
			}
			if own && job.Stage == pb.JobState_JOB_STATE_SUCCEEDED && (want == "" || job.Slot > slot) {
				want, slot = job.ID, job.Slot
			}
			return true
		})
		if sched.LatestJob != want || sched.LatestSlot != slot {
			t.Fatalf("schedule %s: latest is %q of slot %d, want %q of slot %d", sched.ID(), sched.LatestJob, sched.LatestSlot, want, slot)
		}
		return true
	})
}

// checkSlots: the slots of a schedule are decided in order, each once, and a fired one has its job.
func checkSlots(t *rapid.T, before, after state.State) {
	after.EachSchedule(func(sched *state.Schedule) bool {
		old, ok := before.Schedule(sched.ID())
		if !ok || old.Number != sched.Number {
			if sched.Fired+sched.Skipped != 0 || len(sched.Recent) != 0 {
				t.Fatalf("schedule %s begins with decisions", sched.ID())
			}
			return true
		}
		decided := sched.Fired + sched.Skipped - old.Fired - old.Skipped
		if early, ok := before.Job(sched.SlotJobID(sched.LastSlot)); ok && !early.ByHand && sched.LastSlot > old.LastSlot && decided == 0 {
			return true // fired and counted before the clock was set back
		}
		if (decided > 0) != (sched.LastSlot > old.LastSlot) || sched.LastSlot < old.LastSlot || sched.Fired < old.Fired || sched.Revision < old.Revision {
			t.Fatalf("schedule %s went from %+v to %+v", sched.ID(), old, sched)
		}
		if sched.Fired > old.Fired {
			job, ok := after.Job(sched.SlotJobID(sched.LastSlot))
			if !ok || decided != 1 || sched.Recent[len(sched.Recent)-1].JobID != job.ID {
				t.Fatalf("schedule %s fired %d slots; the job: %v", sched.ID(), decided, ok)
			}
		}
		return true
	})
}

// checkRunning: the index of a schedule's jobs is what walking all jobs gives.
func checkRunning(t *rapid.T, s state.State) {
	want := make(map[string][]string)
	s.EachActive(func(job *state.Job) bool {
		if sched, ok := s.Schedule(job.ScheduleID); ok && !job.ByHand && job.ID == sched.SlotJobID(job.Slot) {
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

// What a reader holds is not changed by whoever proposed it.
func TestDefinitionsAreCopied(t *testing.T) {
	cmd := putSchedule("n", 1)
	s, _ := run(t, state.New(), cmd)
	before := s.Digest()
	proto.Reset(cmd.GetPutSchedule())
	if s.Digest() != before {
		t.Error("the state changed with its proposer's message")
	}
}
