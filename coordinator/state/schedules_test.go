package state_test

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

func putSchedule(id string, now int64) *pb.Command {
	return &pb.Command{NowUnixMs: now, Body: &pb.Command_PutSchedule{PutSchedule: &pb.PutSchedule{
		Id: id, JobJson: []byte("{}"), Cron: "0 2 * * *", TimeZone: "UTC",
		Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, CatchUp: pb.CatchUp_CATCH_UP_LATEST,
	}}}
}

// fireTick is the decision that a proposer who sees s would make on a tick.
func fireTick(s state.State, id string, tick int64) *pb.FireTick {
	cmd := &pb.FireTick{ScheduleId: id, TickUnixMs: tick}
	if sched, ok := s.Schedule(id); ok {
		cmd.Revision, cmd.AfterUnixMs = sched.Revision, sched.LastTick
	}
	return cmd
}

func firing(cmd *pb.FireTick) *pb.Command {
	return &pb.Command{NowUnixMs: cmd.TickUnixMs, Body: &pb.Command_FireTick{FireTick: cmd}}
}

func fire(s state.State, id string, tick int64) *pb.Command {
	cmd := fireTick(s, id, tick)
	cmd.Job = &pb.SubmitJob{Kind: "K", SpecHash: "h"}
	return firing(cmd)
}

func skip(s state.State, id string, first, last int64, ticks uint32) *pb.Command {
	cmd := fireTick(s, id, last)
	cmd.FirstUnixMs, cmd.Ticks, cmd.Skip = first, ticks, pb.SkipReason_SKIP_REASON_MISSED
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

func TestATickFiresOnce(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	entry := fire(s, "n", 2000)
	s, reply := run(t, s, entry)
	if !reply.Created || reply.Job.ScheduleID != "n" || reply.Job.Tick != 2000 ||
		reply.Job.ID != reply.Schedule.TickJobID(2000) {
		t.Fatalf("created %v: %+v", reply.Created, reply.Job)
	}
	if !state.ValidJobID(reply.Job.ID) || !strings.HasPrefix(reply.Job.ID, "n-") {
		t.Errorf("job id %q", reply.Job.ID)
	}
	wantRefused(t, s, entry, state.Conflict) // the same entry again
	wantRefused(t, s, fire(s, "n", 2000), state.Conflict)
	wantRefused(t, s, fire(s, "n", 1500), state.Conflict)
	lost := fireTick(s, "n", 4000)
	lost.AfterUnixMs, lost.Job = 3000, &pb.SubmitJob{SpecHash: "h"}
	wantRefused(t, s, firing(lost), state.Conflict) // tick 3000 was never decided
	s, _ = run(t, s, skip(s, "n", 3000, 5000, 3))
	run(t, s, fire(s, "n", 6000))
}

func TestSkipsCoverTicksInARow(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	for _, odd := range []*pb.Command{skip(s, "n", 1000, 2000, 2), skip(s, "n", 3000, 2000, 1),
		skip(s, "n", 2000, 2000, 2), skip(s, "n", 2000, 3000, 1), skip(s, "n", 2000, 3000, 0)} {
		wantRefused(t, s, odd, state.Malformed)
	}
	both := fireTick(s, "n", 2000)
	wantRefused(t, s, firing(both), state.Malformed) // neither job nor reason
	both.Job, both.Skip = &pb.SubmitJob{}, pb.SkipReason_SKIP_REASON_LATE
	wantRefused(t, s, firing(both), state.Malformed)
	s, reply := run(t, s, skip(s, "n", 2000, 4000, 3))
	if reply.Schedule.Skipped != 3 || reply.Schedule.LastTick != 4000 || s.JobCount() != 0 {
		t.Fatalf("%+v", reply.Schedule)
	}
	for tick := int64(5000); tick < 30_000; tick += 1000 {
		s, reply = run(t, s, fire(s, "n", tick))
	}
	if got := reply.Schedule.Recent; len(got) != state.MaxTickRecords || got[len(got)-1].Tick != 29_000 {
		t.Errorf("%d records kept, the last %+v", len(got), got[len(got)-1])
	}
}

func TestPutScheduleIsIdempotentAndReplacesWhenAsked(t *testing.T) {
	s, first := run(t, state.New(), putSchedule("n", 1000))
	s, _ = run(t, s, fire(s, "n", 2000))
	s, again := run(t, s, putSchedule("n", 3000))
	if again.Schedule.Revision != first.Schedule.Revision || again.Schedule.LastTick != 2000 {
		t.Fatalf("the same definition again: %+v", again.Schedule)
	}
	other := putSchedule("n", 4000)
	other.GetPutSchedule().Cron = "0 3 * * *"
	wantRefused(t, s, other, state.Conflict)
	stale := fire(s, "n", 5000)
	other.GetPutSchedule().Replace = true
	s, changed := run(t, s, other)
	if changed.Schedule.LastTick != 2000 || changed.Schedule.Since != 4000 ||
		changed.Schedule.Number != first.Schedule.Number {
		t.Fatalf("replaced: %+v", changed.Schedule)
	}
	wantRefused(t, s, stale, state.Conflict) // decided by the old expression
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "n"}}})
	wantRefused(t, s, stale, state.NotFound)
	_, anew := run(t, s, putSchedule("n", 9000))
	if anew.Schedule.TickJobID(2000) == first.Schedule.TickJobID(2000) {
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

func TestAJobMadeByHandIsTheTicksIfItsSpecIs(t *testing.T) {
	s, made := run(t, state.New(), putSchedule("n", 1000))
	same, other := made.Schedule.TickJobID(2000), made.Schedule.TickJobID(3000)
	s, _ = run(t, s, submit(same, "h"), submit(other, "x"))
	s, reply := run(t, s, fire(s, "n", 2000))
	if reply.Created || reply.Schedule.Fired != 1 {
		t.Errorf("created %v, %+v", reply.Created, reply.Schedule)
	}
	_, reply = run(t, s, fire(s, "n", 3000))
	if last := reply.Schedule.Recent[1]; last.Skip != pb.SkipReason_SKIP_REASON_CONFLICT ||
		reply.Schedule.Skipped != 1 {
		t.Errorf("%+v", last)
	}
}

// succeed takes a job to its end.
func succeed(t *testing.T, s state.State, id string) state.State {
	t.Helper()
	s, _ = run(t, s, start(id), completions(planned(id, 1), node(id, 1, 0, 0, 0, 1),
		step(id, 1, &pb.Next{Done: true, State: ref(3)}), report(id)))
	if job, _ := s.Job(id); job.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		t.Fatalf("job %s is %v", id, job.Stage)
	}
	return s
}

// The latest moves when a job succeeds, not when it fails or ends after a later tick's.
func TestLatestMovesOnSuccessOnly(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("n", 1000))
	ids := make(map[int64]string)
	for _, tick := range []int64{2000, 3000, 4000} {
		var reply state.Reply
		s, reply = run(t, s, fire(s, "n", tick))
		ids[tick] = reply.Job.ID
	}
	want := func(tick int64) {
		t.Helper()
		if sched, _ := s.Schedule("n"); sched.LatestJob != ids[tick] || sched.LatestTick != tick {
			t.Fatalf("latest is %q of tick %d, want that of %d", sched.LatestJob, sched.LatestTick, tick)
		}
	}
	want(0)
	s = succeed(t, s, ids[3000])
	want(3000)
	s = succeed(t, s, ids[2000])
	want(3000)
	s, _ = run(t, s, &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: ids[4000],
		Failure: &pb.Failure{Code: "X"}}}})
	want(3000)
	byHand := submit("", "h")
	sched, _ := s.Schedule("n")
	ids[3500] = sched.TickJobID(3500)
	byHand.GetSubmit().Id, byHand.GetSubmit().ScheduleId, byHand.GetSubmit().TickUnixMs = ids[3500], "n", 3500
	s, made := run(t, s, byHand)
	if s.JobsOf("n") != 0 || !made.Job.ByHand {
		t.Errorf("a job by hand is under the overlap policy: %+v", made.Job)
	}
	s = succeed(t, s, ids[3500])
	want(3500)
}

// A job by hand bears the id of its tick and no other, and ends without effect on another schedule of its name.
func TestJobsByHandAreOfTheirTick(t *testing.T) {
	s, made := run(t, state.New(), putSchedule("n", 1000))
	cmd := submit(made.Schedule.TickJobID(2000), "h")
	cmd.GetSubmit().ScheduleId, cmd.GetSubmit().TickUnixMs = "n", 3000
	wantRefused(t, s, cmd, state.Conflict)
	cmd.GetSubmit().TickUnixMs = 2000
	wantRefused(t, state.New(), cmd, state.NotFound)
	s, _ = run(t, s, cmd, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "n"}}},
		putSchedule("n", 5000))
	s = succeed(t, s, cmd.GetSubmit().GetId())
	if sched, _ := s.Schedule("n"); sched.LatestJob != "" {
		t.Errorf("the latest is of the schedule that was removed: %+v", sched)
	}
}

// A tick is not used up while there is no room for its job.
func TestATickWaitsForRoom(t *testing.T) {
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

// What a reader holds does not change when its proposer changes the command.
func TestDefinitionsAreCopied(t *testing.T) {
	cmd := putSchedule("n", 1)
	s, _ := run(t, state.New(), cmd)
	before := s.Digest()
	proto.Reset(cmd.GetPutSchedule())
	if s.Digest() != before {
		t.Error("the state changed with its proposer's message")
	}
}
