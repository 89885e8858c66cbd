package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const day = 24 * 3600 * 1000

func retire(now, keep int64, ids ...string) *pb.Command {
	cmd := &pb.RetireJobs{KeepMs: keep}
	for _, id := range ids {
		cmd.Jobs = append(cmd.Jobs, &pb.RetireJob{Id: id, OwnOutput: true})
	}
	return &pb.Command{NowUnixMs: now, Body: &pb.Command_RetireJobs{RetireJobs: cmd}}
}

func retireByHand(id string) *pb.Command {
	cmd := retire(2000, 0, id)
	cmd.GetRetireJobs().ByHand = true
	return cmd
}

func setAlias(name, job string) *pb.Command {
	return &pb.Command{NowUnixMs: 2000, Body: &pb.Command_SetAlias{SetAlias: &pb.SetAlias{Name: name, JobId: job}}}
}

func moveAlias(name, from, to string) *pb.Command {
	cmd := setAlias(name, to)
	cmd.GetSetAlias().Check, cmd.GetSetAlias().ExpectJob = true, from
	return cmd
}

// finished adds a job that has succeeded, at 1002 or the state's own time.
func finished(t *testing.T, s state.State, id string) state.State {
	t.Helper()
	s, _ = run(t, s, submit(id, "h"), start(id), completions(planned(id, 1)), completions(node(id, 1, 0, 0, 0, 10)),
		completions(step(id, 1, &pb.Next{Done: true, State: ref(8)})))
	end := report(id)
	end.Output.Files[0].Uri = "u/" + id
	s, _ = run(t, s, completions(end))
	return s
}

func refused(t *testing.T, s state.State, cmd *pb.Command, reason state.Reason, says string) {
	t.Helper()
	next, reply := state.Apply(s, cmd)
	if reply.Err == nil || reply.Err.Reason != reason || !strings.Contains(reply.Err.Message, says) {
		t.Errorf("refused with %v, want reason %d and %q", reply.Err, reason, says)
	}
	before, after := s, next
	before.Now, after.Now = 0, 0
	if before.Digest() != after.Digest() {
		t.Error("a refused command changed the state")
	}
}

// Three jobs end at 1002: one that says nothing, one kept for 500 ms, one without end.
func TestRetention(t *testing.T) {
	s := state.New()
	for id, keep := range map[string]int64{"plain": 0, "short": 500, "forever": -1} {
		cmd := submit(id, "h")
		cmd.GetSubmit().KeepMs = keep
		s, _ = run(t, s, cmd)
		s = finished(t, s, id)
	}
	all := []string{"plain", "short", "forever", "absent"}
	for _, step := range []struct {
		now, keep int64
		gone      string
	}{
		{1002, 1000, "[]"}, {1501, 1000, "[]"}, {1502, 1000, "[short]"}, {1502, 1000, "[]"}, {9999, -1, "[]"},
		{9999, 0, "[]"}, {9999, 1000, "[plain]"},
	} {
		var reply state.Reply
		if s, reply = run(t, s, retire(step.now, step.keep, all...)); fmt.Sprint(reply.Retired) != step.gone {
			t.Errorf("at %d, kept for %d: %v retired, want %s", step.now, step.keep, reply.Retired, step.gone)
		}
	}
	if gone, ok := s.Retired.Get("short"); !ok || gone.RetiredAt != 1502 || !gone.OwnOutput || gone.Swept {
		t.Errorf("what is left of it: %+v", gone)
	}
	if _, ok := s.Job("forever"); !ok || s.JobCount() != 1 || s.Retired.Count() != 2 {
		t.Errorf("%d jobs, %d retired", s.JobCount(), s.Retired.Count())
	}
}

// Time is the state's: an entry of a leader whose clock is behind retires what is due all the same.
func TestRetentionGoesByTheStatesTime(t *testing.T) {
	s := finished(t, state.New(), "a")
	later := submit("b", "h")
	later.NowUnixMs = 5002
	s, _ = run(t, s, later)
	if _, reply := run(t, s, retire(1, 4001, "a")); reply.Retired != nil {
		t.Error("retired a millisecond early")
	}
	if _, reply := run(t, s, retire(1, 4000, "a")); fmt.Sprint(reply.Retired) != "[a]" {
		t.Errorf("retired %v", reply.Retired)
	}
}

func TestRetiredIDsStayTaken(t *testing.T) {
	s, _ := run(t, finished(t, state.New(), "a"), retireByHand("a"))
	refused(t, s, submit("a", "h"), state.Conflict, "is retired")
	if s, reply := run(t, s, retireByHand("a")); reply.Retired != nil || s.Retired.Count() != 1 {
		t.Errorf("retired twice: %v", reply.Retired)
	}
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 99), pb.Verdict_VERDICT_STALE) // of a worker that was paused
	refused(t, s, retireByHand("nobody"), state.NotFound, "nobody")
	mark := &pb.Command{NowUnixMs: 3000, Body: &pb.Command_MarkSwept{MarkSwept: &pb.MarkSwept{Ended: []string{"a"}}}}
	s, _ = run(t, s, mark) // of the job as it was before it was retired
	if gone, _ := s.Retired.Get("a"); gone.Swept {
		t.Error("the mark of an ended job was taken for that of the retired one")
	}
	mark.GetMarkSwept().Ended, mark.GetMarkSwept().Retired = nil, []string{"a"}
	s, _ = run(t, s, mark, retire(2000+30*day, 1, "none"))
	if s.Retired.Count() != 1 {
		t.Error("forgotten too early")
	}
	s, _ = run(t, s, retire(2001+30*day, 1, "none"), submit("a", "other"))
	if s.Retired.Count() != 0 {
		t.Error("not forgotten after its time")
	}
}

func TestNamedJobsStay(t *testing.T) {
	s := finished(t, state.New(), "m")
	needs := submit("later", "h")
	needs.GetSubmit().Needs = []string{"m"}
	begins, reads := submit("begins", "h"), submit("reads", "h")
	begins.GetSubmit().ModelJob, reads.GetSubmit().ModelUri = "m", "u/m"
	byURI, byID := putSchedule("nightly", 2000), putSchedule("weekly", 2000)
	byURI.GetPutSchedule().Model, byID.GetPutSchedule().Model = "u/m", "m"
	for _, c := range []struct {
		name, free *pb.Command
		says       string
	}{
		{setAlias("prod", "m"), &pb.Command{Body: &pb.Command_RemoveAlias{RemoveAlias: &pb.RemoveAlias{Name: "prod"}}},
			"alias @prod"},
		{needs, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "later"}}}, "job later, which needs it"},
		{begins, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "begins"}}},
			"job begins, which begins from its model"},
		{reads, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "reads"}}},
			"job reads, which begins from its model"},
		{byURI, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "nightly"}}},
			"schedule nightly"},
		{byID, &pb.Command{Body: &pb.Command_RemoveSchedule{RemoveSchedule: &pb.RemoveSchedule{Id: "weekly"}}},
			"schedule weekly"},
	} {
		s, _ = run(t, s, c.name)
		refused(t, s, retireByHand("m"), state.Held, c.says)
		if _, reply := run(t, s, retire(1<<50, 1, "m")); reply.Retired != nil {
			t.Errorf("%s: retired all the same", c.says)
		}
		s, _ = run(t, s, c.free)
	}
	s, _ = run(t, s, submit("open", "h"))
	refused(t, s, retireByHand("open"), state.Held, "has not ended")
}

func TestLatestOfAScheduleStays(t *testing.T) {
	s, _ := run(t, state.New(), putSchedule("nightly", 100))
	s, _ = run(t, s, fire(s, "nightly", 200))
	s, _ = run(t, s, fire(s, "nightly", 300))
	sched, _ := s.Schedule("nightly")
	first, second := sched.TickJobID(200), sched.TickJobID(300)
	finish := func(id string) {
		s, _ = run(t, s, start(id), completions(planned(id, 1)), completions(node(id, 1, 0, 0, 0, 10)),
			completions(step(id, 1, &pb.Next{Done: true, State: ref(8)})), completions(report(id)))
	}
	finish(first)
	refused(t, s, retireByHand(first), state.Held, "schedule nightly, as its @latest")
	finish(second)
	s, reply := run(t, s, retire(9000, 1, first, second))
	if fmt.Sprint(reply.Retired) != "["+first+"]" {
		t.Errorf("retired %v of %s and the latest, %s", reply.Retired, first, second)
	}
	if job, err := s.Resolve("nightly@latest"); err != nil || job.ID != second {
		t.Errorf("nightly@latest is %v, %v", job, err)
	}
}

func TestAliases(t *testing.T) {
	s := finished(t, finished(t, running(t, 1), "m1"), "m2")
	refused(t, s, setAlias("prod", "a"), state.Ended, "has no model")
	refused(t, s, setAlias("prod", "nobody"), state.NotFound, "nobody")
	refused(t, s, setAlias("../x", "m1"), state.Malformed, "alias")
	refused(t, s, moveAlias("prod", "m2", "m1"), state.Conflict, "means nothing now, not job m2")
	s, reply := run(t, s, moveAlias("prod", "", "m1"))
	if !reply.Created || reply.Previous != "" {
		t.Errorf("a new alias: %+v", reply)
	}
	refused(t, s, moveAlias("prod", "", "m2"), state.Conflict, "means job m1 now, not nothing")
	s, reply = run(t, s, moveAlias("prod", "m1", "m2"))
	if reply.Created || reply.Previous != "m1" {
		t.Errorf("a moved alias: %+v", reply)
	}
	s, _ = run(t, s, moveAlias("prod", "m1", "m2")) // the same call again, its answer was lost
	if job, err := s.Resolve("@prod"); err != nil || job.ID != "m2" {
		t.Errorf("@prod is %v, %v", job, err)
	}
	remove := &pb.Command{Body: &pb.Command_RemoveAlias{RemoveAlias: &pb.RemoveAlias{Name: "prod", Check: true,
		ExpectJob: "m1"}}}
	refused(t, s, remove, state.Conflict, "means job m2 now")
	remove.GetRemoveAlias().ExpectJob = "m2"
	s, _ = run(t, s, remove)
	refused(t, s, remove, state.NotFound, "no alias @prod")
	for reference, says := range map[string]string{"@prod": "no alias", "none@latest": "no schedule",
		"nobody": "no job"} {
		if _, err := s.Resolve(reference); err == nil || !strings.Contains(err.Message, says) {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

// A job of three rounds. What a round made is garbage when the next but one has opened, but for what
// the report is made of; an object of the same bytes that a later round made is another.
func TestGarbageOfARunningJob(t *testing.T) {
	s := running(t, 1)
	garbage := func(at int64, round uint32, digest byte) bool {
		job, _ := s.Job("a")
		return job.Garbage(at).Has(state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)})
	}
	closeRound := func(round uint32, now int64, next *pb.Next) {
		for _, c := range []*pb.Completion{node("a", round, 0, 0, 0, 10), step("a", round, next)} {
			cmd := completions(c)
			cmd.NowUnixMs = now
			s, _ = run(t, s, cmd)
		}
	}
	closeRound(1, 2000, &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(20), Metrics: ref(30)})
	if garbage(2000, 1, 10) || garbage(2000, 1, 20) {
		t.Error("what round 1 made is garbage while round 2 is open")
	}
	if garbage(2000, 0, 3) || garbage(2000, 0, 1) || garbage(2000, 0, 2) {
		t.Error("the plan or the first state is garbage, from which the rounds may begin anew")
	}
	closeRound(2, 3000, &pb.Next{Phase: "count", Trees: []uint32{1}, State: ref(20)})
	for digest, want := range map[byte]bool{10: true, 20: false, 30: false} { // 20: round 2 may be made again from it
		if got := garbage(3000, 1, digest); got != want {
			t.Errorf("object %d of round 1: garbage %v", digest, got)
		}
	}
	if !garbage(3000, 1, 77) || garbage(2999, 1, 10) || garbage(3000, 2, 10) || garbage(3000, 2, 20) ||
		garbage(3000, 3, 10) {
		t.Error("garbage too early")
	}
	closeRound(3, 4000, &pb.Next{Done: true, State: ref(21)})
	end := completions(report("a"))
	end.NowUnixMs = 5000
	s, _ = run(t, s, end)
	if garbage(4999, 3, 10) || !garbage(5000, 3, 10) || garbage(5000, 3, 21) || garbage(5000, 1, 30) ||
		garbage(5000, 0, 2) || !garbage(5000, 1, 20) || !garbage(5000, 0, 3) {
		t.Error("of an ended job model, metrics, manifest and plan alone are no garbage")
	}
}

// Both objects of a determinism violation are kept: somebody has to look at them.
func TestNoGarbageAfterAViolation(t *testing.T) {
	s := running(t, 2)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 1), pb.Verdict_VERDICT_ACCEPTED)
	s = wantVerdict(t, s, node("a", 1, 0, 0, 0, 2), pb.Verdict_VERDICT_VIOLATION)
	job, _ := s.Job("a")
	if g := job.Garbage(1 << 50); !g.Empty() || g.Has(state.ObjectID{Round: 1, SHA256: [32]byte(ref(2).Sha256)}) {
		t.Error("the second object is garbage")
	}
}
