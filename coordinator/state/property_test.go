package state_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

var jobIDs = []string{"a", "b", "c", "", "UPPER"}

// drawCommand draws from a small universe, so that commands meet each other.
func drawCommand(t *rapid.T, s state.State) *pb.Command {
	id := rapid.SampledFrom(jobIDs).Draw(t, "job")
	cmd := &pb.Command{NowUnixMs: rapid.Int64Range(-5, 100).Draw(t, "now")}
	switch rapid.IntRange(0, 33).Draw(t, "command") {
	case 0:
		cmd.Body = &pb.Command_Submit{Submit: &pb.SubmitJob{
			Id: id, SpecHash: rapid.SampledFrom([]string{"h", "i"}).Draw(t, "hash"),
			Priority:   rapid.Int32Range(-2, 2).Draw(t, "priority"),
			AuditPpm:   rapid.SampledFrom([]uint32{0, 300_000, 1_000_000}).Draw(t, "audit"),
			MaxWorkers: rapid.Uint32Range(0, 2).Draw(t, "max workers"), KeepMs: rapid.Int64Range(-1, 3).Draw(t, "keep"),
			ModelJob:    rapid.SampledFrom([]string{"", "", "b"}).Draw(t, "model"),
			ModelUri:    rapid.SampledFrom([]string{"", "u/a"}).Draw(t, "model uri"),
			Needs:       rapid.SampledFrom([][]string{nil, nil, {"a"}}).Draw(t, "needs"),
			SubmittedBy: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "token"),
		}}
	case 1:
		cmd.Body = &pb.Command_Start{Start: &pb.StartJob{Id: id}}
	case 2:
		if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
			cmd.Body = &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}
		}
	case 3:
		if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
			cmd.Body = &pb.Command_Fail{Fail: &pb.FailJob{Id: id,
				Failure: &pb.Failure{Code: "X", Class: pb.FailureClass_FAILURE_CLASS_INPUT}}}
		}
	case 4:
		cmd.Body = &pb.Command_PutToken{PutToken: drawToken(t, id)}
	case 5:
		cmd.Body = &pb.Command_RevokeToken{RevokeToken: &pb.RevokeToken{Id: id}}
	case 6, 7, 8, 9:
		return drawScheduleCommand(t, s, cmd)
	case 10, 11, 12, 13:
		return drawUpkeepCommand(t, s, cmd)
	case 14:
		cmd.Body = &pb.Command_RemoveMember{RemoveMember: &pb.RemoveMember{Id: id}}
	case 15:
		cmd.Body = &pb.Command_ReleaseSchedules{ReleaseSchedules: &pb.ReleaseSchedules{}}
	case 23:
		cmd.Body = &pb.Command_SetClock{SetClock: &pb.SetClock{NowUnixMs: rapid.Int64Range(-1, 60).Draw(t, "clock")}}
	case 16:
		cmd.Body = &pb.Command_Checkpoint{Checkpoint: &pb.Checkpoint{}}
	case 17, 18:
		cmd.Body = &pb.Command_Uncommit{Uncommit: drawUncommit(t, s)}
	case 19:
		cmd.Body = &pb.Command_SetSecret{SetSecret: &pb.SetSecret{Secret: []byte("a secret of thirty-two bytes, say")}}
	case 20:
		cmd.Body = &pb.Command_WaiveAudits{WaiveAudits: drawWaiver(t, s, id)}
	default:
		list := make([]*pb.Completion, rapid.IntRange(0, 6).Draw(t, "completions"))
		for i := range list {
			list[i] = drawCompletion(t, s)
		}
		cmd.Body = &pb.Command_Complete{Complete: &pb.CompleteTasks{Completions: list}}
	}
	return cmd
}

// drawCompletion mostly draws what the job waits for, so that jobs get far, and
// now and then anything at all.
func drawCompletion(t *rapid.T, s state.State) *pb.Completion {
	id := &pb.TaskID{
		JobId: rapid.SampledFrom(append(jobsOfSchedules(s), jobIDs[:3]...)).Draw(t, "job"),
		Round: rapid.Uint32Range(0, 3).Draw(t, "round"),
		Kind:  pb.TaskKind(rapid.IntRange(0, 5).Draw(t, "kind")),
		Tree:  rapid.Uint32Range(0, 1).Draw(t, "tree"), Level: rapid.Uint32Range(0, 3).Draw(t, "level"),
		Index: rapid.Uint32Range(0, 4).Draw(t, "index"),
	}
	worker, from := "", []byte(nil)
	if job, ok := s.Job(id.JobId); ok && rapid.IntRange(0, 9).Draw(t, "sensible") > 0 {
		id.Round, id.Kind = job.Rounds.Open.Number, awaited(job)
		id.Changes = job.Counters.Remade.Changes
		worker = drawAudit(t, job, id)
		from = drawBasis(t, job, id)
	}
	object := func(name string) *pb.ObjectRef {
		if rapid.IntRange(0, 19).Draw(t, name+" odd") == 0 {
			return rapid.SampledFrom([]*pb.ObjectRef{ref(2), nil, {Size: -1}}).Draw(t, name)
		}
		return ref(1)
	}
	next := &pb.Next{
		Done:  rapid.IntRange(0, 2).Draw(t, "done") == 0,
		Phase: rapid.SampledFrom([]string{"p", "p", "q", ""}).Draw(t, "phase"),
		Trees: rapid.SliceOfN(rapid.Uint32Range(0, 5), 1, 2).Draw(t, "trees"), State: object("state"),
		Course: object("course"),
	}
	copies := &pb.SpeculativeCopies{Launched: 3, Won: 1, Wasted: uint64(id.GetIndex())}
	if !id.Again {
		worker = rapid.SampledFrom([]string{"w1", "w2", "w3", "w4", ""}).Draw(t, "worker")
	}
	kernels := rapid.SampledFrom([]string{"generic", "avx2", ""}).Draw(t, "kernels")
	c := &pb.Completion{Id: id, Kernels: kernels, SpentUs: 3, Worker: worker, WorkerId: worker,
		SpeculativeCopies: copies, FoldedFrom: from}
	c.Output = &pb.TaskOutput{
		Object: object("object"), Carry: object("carry"), Manifest: object("manifest"), Plan: object("plan"),
		Next: next,
		Files: []*pb.OutputFile{{Name: rapid.SampledFrom([]string{"model.safetensors", "model.safetensors", "m"}).Draw(
			t, "output"), Uri: "u/" + id.JobId, Sha256: object("file").GetSha256()}},
	}
	return c
}

// drawBasis turns the task into the step now and then, where the round is whole, and draws what a step was made from:
// what is committed or what its audit names, and seldom something else; nil where it does not say.
func drawBasis(t *rapid.T, job *state.Job, id *pb.TaskID) []byte {
	whole := job.Rounds.Open.Whole()
	if whole && id.Kind == pb.TaskKind_TASK_KIND_NODE && rapid.Bool().Draw(t, "step of pieces") {
		id.Kind = pb.TaskKind_TASK_KIND_STEP
	}
	if id.Kind != pb.TaskKind_TASK_KIND_STEP {
		return nil
	}
	bases := [][]byte{nil, make([]byte, 32)}
	if whole {
		basis := state.Basis(job.Rounds.Open.All())
		bases = append(bases, basis[:], basis[:], basis[:])
	}
	if a, ok := job.Audits.Of(id.GetRound(), id.GetKind(), 0, protocol.Node{}); ok {
		basis := state.Basis(a.Pieces)
		bases = append(bases, basis[:], basis[:], basis[:])
	}
	return rapid.SampledFrom(bases).Draw(t, "made from")
}

// awaited is the kind of task that takes the job on.
func awaited(job *state.Job) pb.TaskKind {
	switch {
	case job.Stage == pb.JobState_JOB_STATE_PLANNING:
		return pb.TaskKind_TASK_KIND_PLAN
	case job.Reporting():
		return pb.TaskKind_TASK_KIND_REPORT
	case job.Rounds.Open.Complete():
		return pb.TaskKind_TASK_KIND_STEP
	}
	return pb.TaskKind_TASK_KIND_NODE
}

func apply(t *rapid.T, s state.State, cmd *pb.Command) state.State {
	entry, err := proto.Marshal(cmd)
	if err != nil {
		t.Fatal(err)
	}
	s, _ = state.ApplyBytes(s, entry)
	return s
}

// Replay gives what live application gave; a snapshot and the tail give what a
// full replay gives; every step keeps the invariants.
func TestReplayAndSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkReplay(t, nil, drawCommand) })
}

// checkReplay goes on from commands by drawn ones.
func checkReplay(t *rapid.T, commands []*pb.Command, draw func(*rapid.T, state.State) *pb.Command) {
	length := rapid.IntRange(0, 120).Draw(t, "length")
	cut := rapid.IntRange(0, length).Draw(t, "cut")
	begin := state.New()
	if rapid.IntRange(0, 3).Draw(t, "restored") == 0 {
		begin = begin.Restored()
	}
	live, tail := begin, begin
	for _, cmd := range commands {
		live = apply(t, live, cmd)
	}
	set := false // the clock was
	for i := range length {
		cmd, before := draw(t, live), live
		commands = append(commands, cmd)
		digest := before.Digest()
		live = apply(t, live, cmd)
		if before.Digest() != digest {
			t.Fatalf("command %d changed the state before it", i)
		}
		set = set || cmd.GetSetClock() != nil
		checkTransition(t, before, live, cmd)
		checkInvariants(t, live, set)
		if i == cut {
			tail = reread(t, before)
		}
		if i >= cut {
			tail = apply(t, tail, cmd)
		}
	}
	if cut < length && tail.Digest() != live.Digest() {
		t.Fatal("snapshot and tail differ from the full run")
	}
	replay := begin
	for _, cmd := range commands {
		replay = apply(t, replay, cmd)
	}
	if replay.Digest() != live.Digest() {
		t.Fatal("replay differs from live")
	}
}

var allowed = map[pb.JobState][]pb.JobState{
	pb.JobState_JOB_STATE_QUEUED: {pb.JobState_JOB_STATE_PLANNING, pb.JobState_JOB_STATE_FAILED,
		pb.JobState_JOB_STATE_CANCELLED},
	pb.JobState_JOB_STATE_PLANNING: {pb.JobState_JOB_STATE_RUNNING, pb.JobState_JOB_STATE_FAILED,
		pb.JobState_JOB_STATE_CANCELLED},
	pb.JobState_JOB_STATE_RUNNING: {pb.JobState_JOB_STATE_SUCCEEDED, pb.JobState_JOB_STATE_FAILED,
		pb.JobState_JOB_STATE_CANCELLED},
}

func checkTransition(t *rapid.T, before, after state.State, cmd *pb.Command) {
	set := cmd.GetSetClock() != nil
	if set {
		checkClock(t, before, after, cmd.GetSetClock().GetNowUnixMs())
	} else {
		if after.Now < before.Now {
			t.Fatalf("time went back from %d to %d", before.Now, after.Now)
		}
		checkTicks(t, before, after)
	}
	checkTokens(t, before, after)
	checkRestored(t, before, after)
	before.EachJob(func(old *state.Job) bool {
		job, ok := after.Job(old.ID)
		if !ok {
			checkRetired(t, before, after, old)
			return true
		}
		checkGarbage(t, old, job)
		back := job.Rounds.Open.Number < old.Rounds.Open.Number
		if back && !reopened(old, job) || old.Ended() && !sameRecord(old, job, set) {
			t.Fatalf("job %s went back or changed after its end", old.ID)
		}
		path := old.Stage
		if job.Stage == pb.JobState_JOB_STATE_PLANNING && job.Counters.Remade.Anew == old.Counters.Remade.Anew+1 {
			path = job.Stage // the plan is made again
		}
		// One command may carry several completions, hence several transitions.
		for path != job.Stage && slices.Contains(allowed[path], pb.JobState_JOB_STATE_RUNNING) {
			path = pb.JobState_JOB_STATE_RUNNING
		}
		if path != job.Stage && !slices.Contains(allowed[path], job.Stage) &&
			!slices.Contains(allowed[old.Stage], job.Stage) {
			t.Fatalf("job %s: %v -> %v", old.ID, old.Stage, job.Stage)
		}
		return true
	})
}

func sameRecord(a, b *state.Job, clockSet bool) bool {
	return a.Stage == b.Stage && (a.FinishedAt == b.FinishedAt || clockSet) && a.Counters == b.Counters &&
		a.Rounds.Open.Number == b.Rounds.Open.Number && len(a.Rounds.Finished) == len(b.Rounds.Finished) &&
		a.Model == b.Model && a.Course == b.Course
}

func checkInvariants(t *rapid.T, s state.State, clockSet bool) {
	active := 0
	s.EachJob(func(job *state.Job) bool {
		if !job.Ended() {
			active++
		}
		covered, lastTree, lastEnd := uint64(0), uint32(0), 0
		job.Rounds.Open.EachCommit(func(c state.Commit) bool {
			first, end := job.Rounds.Open.Tree(c.Tree).Range(c.Node)
			if c.Tree == lastTree && first < lastEnd {
				t.Fatalf("job %s: node %v overlaps the one before it", job.ID, c.Node)
			}
			covered, lastTree, lastEnd = covered+uint64(end-first), c.Tree, end
			return true
		})
		if covered != job.Rounds.Open.Covered {
			t.Fatalf("job %s: %d leaves covered, counted %d", job.ID, covered, job.Rounds.Open.Covered)
		}
		if (job.Stage == pb.JobState_JOB_STATE_SUCCEEDED) != (len(job.Outputs) > 0) ||
			(job.Failure != nil) != (job.Stage == pb.JobState_JOB_STATE_FAILED) {
			t.Fatalf("job %s: stage %v, %d outputs, failure %v", job.ID, job.Stage, len(job.Outputs), job.Failure)
		}
		return true
	})
	checkMakers(t, s)
	checkAudits(t, s)
	checkRunning(t, s)
	checkLatest(t, s, clockSet)
	checkNamed(t, s)
	if active != s.ActiveCount() {
		t.Fatalf("%d active jobs, counted %d", active, s.ActiveCount())
	}
}

func TestDecodeRefusesAlteredSnapshots(t *testing.T) {
	s := running(t, 5)
	s = wantVerdict(t, s, node("a", 1, 0, 1, 0, 10), pb.Verdict_VERDICT_ACCEPTED)
	s, _ = run(t, s, putSchedule("nightly", 100))
	s, _ = run(t, s, fire(s, "nightly", 200))
	s, _ = run(t, finished(t, s, "done"), retireByHand("done"))
	s, _ = run(t, finished(t, s, "kept"), setAlias("prod", "kept"))
	var buf bytes.Buffer
	if err := s.Encode(&buf); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	for i := range whole {
		if _, err := state.Decode(bytes.NewReader(whole[:i])); err == nil {
			t.Fatalf("a snapshot cut at byte %d of %d was read", i, len(whole))
		}
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x10
		if _, err := state.Decode(bytes.NewReader(flipped)); err == nil {
			t.Fatalf("a snapshot with byte %d flipped was read", i)
		}
	}
	if _, err := state.Decode(bytes.NewReader(append(whole, 0))); err == nil {
		t.Fatal("a snapshot with a byte added was read")
	}
}

func FuzzApply(f *testing.F) {
	for _, cmd := range []*pb.Command{submit("a", "h"), start("a"),
		completions(planned("a", 3), node("a", 1, 0, 1, 0, 1)), putSchedule("b", 3), retireByHand("a"),
		setAlias("b", "a")} {
		entry, err := proto.Marshal(cmd)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(entry)
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		s, _ := run(t, state.New(), submit("a", "h"), start("a"), completions(planned("a", 3)))
		s, _ = state.ApplyBytes(s, entry)
		s.Digest()
	})
}

func FuzzDecode(f *testing.F) {
	var buf bytes.Buffer
	if err := state.New().Encode(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := state.Decode(bytes.NewReader(data))
		if err == nil {
			s.Digest()
		}
	})
}
