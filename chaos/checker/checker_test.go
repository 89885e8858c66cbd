package checker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/chaos/checker"
	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
)

const minute = int64(60_000)

// scene is a run worked out by hand: job a succeeded, job b was cancelled, and a schedule fired at minute
// 1 and skipped minute 2. One object has the metrics of a's only round.
type scene struct {
	t *testing.T
	checker.Evidence
	metrics []byte
	record  *pb.JobRecord
	records []*pb.SnapshotRecord
}

func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func calm(t *testing.T) *scene {
	s := &scene{t: t, metrics: []byte("metrics of a")}
	model := hex.EncodeToString(digest("model"))
	seen := func(id string, state history.State, model string) *history.Job {
		return &history.Job{ID: id, SpecHash: "h", State: state, Model: model}
	}
	s.Operations = []history.Operation{
		{Client: 1, Kind: history.CreateSchedule, Schedule: "s", Created: true, Outcome: history.OK,
			Ticks: &history.TickState{LastTick: 100}, Invoked: 1, Returned: 2},
		{Client: 1, Kind: history.Submit, Job: "a", SpecHash: "h", Created: true, Outcome: history.OK,
			Seen: seen("a", history.Queued, ""), Invoked: 3, Returned: 4},
		{Client: 2, Kind: history.Submit, Job: "b", SpecHash: "h", Outcome: history.Unknown, Invoked: 4, Returned: 9},
		{Client: 2, Kind: history.Submit, Job: "b", SpecHash: "h", Outcome: history.OK,
			Seen: seen("b", history.Running, ""), Invoked: 10, Returned: 11},
		{Client: 2, Kind: history.Cancel, Job: "b", Outcome: history.OK, Seen: seen("b", history.Cancelled, ""),
			Invoked: 12, Returned: 13},
		{Client: 1, Kind: history.Status, Outcome: history.OK,
			Status: &history.Position{Leader: "c1", Term: 2, Index: 7, Digest: "d7"}, Invoked: 14, Returned: 15},
		{Client: 1, Kind: history.Get, Job: "a", Outcome: history.OK, Seen: seen("a", history.Succeeded, model),
			Invoked: 16, Returned: 17},
		{Client: 1, Kind: history.Get, Job: "c", Outcome: history.Refused, Code: history.NotFound, Invoked: 18,
			Returned: 19},
	}
	s.Specs = map[string]checker.Spec{"h": {Name: "bayes", Models: []string{model}}}
	output := func(id string) []*pb.OutputFile {
		return []*pb.OutputFile{{Name: "model.safetensors", Uri: "s3://bucket/own/models/" + id,
			Sha256: digest("model"), Size: 5}}
	}
	s.Jobs = []*pb.Job{
		{Id: "tick-1", SpecHash: "h", State: pb.JobState_JOB_STATE_SUCCEEDED, Outputs: output("tick-1"),
			ScheduleId: "s", TickUnixMs: minute},
		{Id: "b", SpecHash: "h", State: pb.JobState_JOB_STATE_CANCELLED},
		{Id: "a", SpecHash: "h", State: pb.JobState_JOB_STATE_SUCCEEDED, Outputs: output("a")},
	}
	s.Schedules = []*pb.Schedule{{Definition: &pb.ScheduleDefinition{Id: "s"}, LastTickUnixMs: 2 * minute, Fired: 1,
		Skipped: 1,
		Recent: []*pb.TickRecord{{TickUnixMs: minute, JobId: "tick-1"},
			{TickUnixMs: 2 * minute, Ticks: 1, Skip: pb.SkipReason_SKIP_REASON_OVERLAP}}}}
	s.Ended = time.UnixMilli(2*minute + 30_000)
	s.Replicas = []checker.Replica{{"c1", 9, "d9"}, {"c2", 9, "d9"}, {"c3", 9, "d9"}}
	s.Bucket, s.Own, s.Given = "bucket", "own/", "input/"
	s.Logs, s.Secrets = map[string]string{"c1": "all is well\n"}, []string{"hush"}
	s.Waited, s.Bound, s.Keep = time.Second, time.Minute, 2*time.Minute
	for _, job := range s.Jobs { // just now, as the store is read with the true clock
		s.Sightings = append(s.Sightings, checker.Sighting{Job: job, Open: time.Now(), Over: s.Ended})
	}
	s.Store = mem.New("chaos")
	for _, id := range []string{"a", "tick-1"} {
		s.put("own/models/"+id, "model")
	}
	s.put("input/x", "x")
	s.put("own/"+protocol.ObjectKey("a", 1, [32]byte(digest(string(s.metrics)))), string(s.metrics))
	s.put("own/jobs/a/logs/1", reportLine("accepted", 0)+reportLine("accepted", 1)+reportLine("duplicate", 1))
	s.record = &pb.JobRecord{Spec: &pb.SubmitJob{Id: "a"}, Outputs: output("a"),
		Rounds: []*pb.RoundRecord{{Round: 1,
			Metrics: &pb.ObjectRef{Sha256: digest(string(s.metrics)), Size: int64(len(s.metrics))}}}}
	for _, job := range []*pb.JobRecord{s.record, {Spec: &pb.SubmitJob{Id: "b"}},
		{Spec: &pb.SubmitJob{Id: "tick-1"}, Outputs: output("tick-1")}} {
		s.records = append(s.records, &pb.SnapshotRecord{Body: &pb.SnapshotRecord_Job{Job: job}})
	}
	return s
}

func reportLine(verdict string, index int) string {
	return `{"event":"reported","verdict":"` + verdict +
		`","worker":"w1","task":"node","round":1,"node_index":` + string(rune('0'+index)) + "}\n"
}

func (s *scene) put(key, text string) {
	s.t.Helper()
	if _, err := s.Store.Put(s.t.Context(), key, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) check() []checker.Result {
	s.t.Helper()
	var backup bytes.Buffer
	for _, r := range s.records {
		if _, err := protodelim.MarshalTo(&backup, r); err != nil {
			s.t.Fatal(err)
		}
	}
	s.Backup = append(s.Backup, backup.Bytes()...)
	return checker.Check(context.Background(), &s.Evidence)
}

func TestNothingIsFoundInACleanRun(t *testing.T) {
	for _, r := range calm(t).check() {
		if !r.Holds() {
			t.Errorf("%s: %d facts checked, found %v, %v", r.ID, r.Checked, r.Found, r.Err)
		}
	}
}

// What vanished is missed by nobody where the job was canceled, or where its rounds began anew.
func TestWhatNobodyMissed(t *testing.T) {
	for name, harm := range map[string]func(*scene){
		"canceled": func(s *scene) { s.record.State, s.Vanished = pb.JobState_JOB_STATE_CANCELLED, s.loseMetrics() },
		"anew": func(s *scene) {
			s.record.SinceRound = 2
			s.loseMetrics()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := calm(t)
			harm(s)
			for _, r := range s.check() {
				if !r.Holds() {
					t.Errorf("%s: %d facts checked, found %v, %v", r.ID, r.Checked, r.Found, r.Err)
				}
			}
		})
	}
}

// loseMetrics removes the metrics of the first round and returns their key.
func (s *scene) loseMetrics() map[string]bool {
	s.t.Helper()
	key := "own/" + protocol.ObjectKey("a", 1, [32]byte(digest(string(s.metrics))))
	if err := s.Store.Delete(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
	return map[string]bool{key: true}
}

// A retired job is judged by what was seen of it, and its objects are missed by nobody.
func TestARetiredJobIsNoLoss(t *testing.T) {
	s := calm(t)
	s.Sightings[2].Open = time.Now().Add(-2 * time.Minute)
	s.Sightings[2].Gone = time.Now()
	s.records = s.records[1:]
	for _, key := range []string{"own/models/a", "own/jobs/a/logs/1"} {
		if err := s.Store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	s.put("own/jobs/b/logs/1", reportLine("accepted", 0))
	for _, r := range s.check() {
		if !r.Holds() {
			t.Errorf("%s: %d facts checked, found %v, %v", r.ID, r.Checked, r.Found, r.Err)
		}
	}
}

// TestNothingIsNotAPass: a run that shows nothing is no proof of anything.
func TestNothingIsNotAPass(t *testing.T) {
	results := checker.Check(t.Context(), &checker.Evidence{Store: mem.New("chaos"), Bound: time.Second})
	if !checker.Violated(results) {
		t.Error("an empty run passed")
	}
	for _, r := range results {
		if r.ID != "I9" && r.Holds() { // it ended in time, indeed
			t.Errorf("%s holds, with %d facts checked", r.ID, r.Checked)
		}
	}
}

// violation is one thing that goes wrong in the scene, and what the checker must say of it.
type violation struct {
	name, id, says string
	harm           func(*scene)
}

func violations() []violation {
	return append(append(jobViolations(), clusterViolations()...), orderViolations()...)
}

func jobViolations() []violation {
	return []violation{
		{"a job is lost", "I1", "does not exist", func(s *scene) { s.Jobs = s.Jobs[:2] }},
		{"a job is there twice", "I1", "listed twice", func(s *scene) { s.Jobs = append(s.Jobs, s.Jobs[2]) }},
		{"a job was created twice", "I1", "created 2 times",
			func(s *scene) { s.Operations = append(s.Operations, s.Operations[1]) }},
		{"nobody asked for a job", "I1", "nobody asked for it", func(s *scene) { s.Jobs[1].Id = "z" }},
		{"a refused submit took effect", "I1", "nobody asked for it", func(s *scene) {
			for i := 2; i <= 3; i++ {
				s.Operations[i].Outcome, s.Operations[i].Seen = history.Refused, nil
			}
		}},
		{"a job has another spec", "I1", "has other", func(s *scene) { s.Jobs[2].SpecHash = "other" }},
		{"a node is committed twice", "I2", "committed twice",
			func(s *scene) { s.put("own/jobs/a/logs/2", reportLine("accepted", 1)) }},
		{"a node has two digests", "I2", "another digest",
			func(s *scene) { s.put("own/jobs/a/logs/2", reportLine("violation", 1)) }},
		{"a job counts a violation", "I2", "counts 1 violations",
			func(s *scene) { s.Jobs[2].Counters = &pb.Counters{Violations: 1} }},
		{"a job has two models", "I2", "2 models",
			func(s *scene) { s.Jobs[2].Outputs = append(s.Jobs[2].Outputs, s.Jobs[2].Outputs...) }},
		{"a model differs", "I3", "fault-free runs have",
			func(s *scene) { s.Jobs[2].Outputs[0].Sha256 = digest("other") }},
		{"a spec is unknown", "I3", "nobody wrote", func(s *scene) { s.Specs = nil }},
		{"a job does not end", "I9", "is still running",
			func(s *scene) { s.Jobs[1].State = pb.JobState_JOB_STATE_RUNNING }},
		{"jobs end late", "I9", "longer than", func(s *scene) { s.Waited = 2 * time.Minute }},
		{"a job fails", "I10", "failed: STORE", func(s *scene) {
			s.Jobs[2].State, s.Jobs[2].Failure = pb.JobState_JOB_STATE_FAILED, &pb.Failure{Code: "STORE"}
		}},
		{"a job is cancelled by nobody", "I10", "nobody asked",
			func(s *scene) { s.Operations[4].Outcome = history.Refused }},
		{"a process panics", "I10", "panic: boom", func(s *scene) { s.Logs["w1"] = "fine\npanic: boom\n" }},
		{"a process ends by itself", "I10", "w1 ended by itself: oops",
			func(s *scene) { s.Exits = []checker.Exit{{Process: "w1", Said: "oops"}} }},
		{"a secret is logged", "I10", "the log of c1", func(s *scene) { s.Logs["c1"] = "token=hush" }},
		{"a secret is in the state", "I10", "the backup",
			func(s *scene) { s.record.Failure = &pb.Failure{Message: "hush"} }},
		{"a secret is stored", "I10", "own/jobs/a/logs/2",
			func(s *scene) { s.put("own/jobs/a/logs/2", `{"message":"hush"}`) }},
	}
}

func clusterViolations() []violation {
	return []violation{
		{"a tick fired twice", "I5", "fired twice", func(s *scene) {
			s.Jobs = append(s.Jobs, &pb.Job{Id: "again", SpecHash: "h", ScheduleId: "s", TickUnixMs: minute})
		}},
		{"a tick fired and was skipped", "I5", "1 jobs, 1 times skipped",
			func(s *scene) { s.Jobs[0].TickUnixMs = 2 * minute }},
		{"a tick was lost", "I5", "0 jobs, 0 times skipped",
			func(s *scene) { s.Schedules[0].Recent = s.Schedules[0].Recent[:1] }},
		{"a tick is no tick", "I5", "is no tick", func(s *scene) { s.Jobs[0].TickUnixMs += 7 }},
		{"ticks of the future are decided", "I5", "lies ahead of",
			func(s *scene) { s.Schedules[0].LastTickUnixMs = s.Ended.Add(24 * time.Hour).UnixMilli() }},
		{"ticks are not decided", "I5", "is not decided", func(s *scene) { s.Ended = s.Ended.Add(time.Minute) }},
		{"a schedule is lost", "I5", "does not exist", func(s *scene) { s.Schedules = nil }},
		{"a replica differs", "I6", "c3 other", func(s *scene) { s.Replicas[2].Digest = "other" }},
		{"a replica lags", "I6", "c2 8", func(s *scene) { s.Replicas[1].Index = 8 }},
		{"two leaders differ at an index", "I6", "state at index 7", func(s *scene) {
			op := s.Operations[5]
			op.Client, op.Status = 3, &history.Position{Leader: "c2", Term: 3, Index: 7, Digest: "other"}
			s.Operations = append(s.Operations, op)
		}},
		{"an object is gone", "I8", "is not in the store", func(s *scene) {
			if err := s.Store.Delete(s.t.Context(), "own/models/a"); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"a job succeeded without what vanished", "I8", "is not in the store", func(s *scene) {
			s.record.State, s.Vanished = pb.JobState_JOB_STATE_SUCCEEDED, s.loseMetrics()
		}},
		{"an object is damaged", "I8", "decided were 5", func(s *scene) { s.put("own/models/a", "medal") }},
		{"a round's metrics are damaged", "I8", "job a: own/jobs/a/", func(s *scene) {
			s.put("own/"+protocol.ObjectKey("a", 1, [32]byte(digest(string(s.metrics)))), "metrics of b")
		}},
		{"a job is in the backup alone", "I8", "the backup has job a", func(s *scene) { s.Jobs = s.Jobs[:2] }},
		{"a job is not in the backup", "I8", "the API has job tick-1", func(s *scene) { s.records = s.records[:2] }},
		{"a job is retired early", "I11", "job a was retired at most 1m0s after its end, not 2m0s", func(s *scene) {
			s.Sightings[2].Gone = s.Sightings[2].Open.Add(time.Minute)
		}},
		{"a job is kept too long", "I11", "job b is kept at least 4m0.001s", func(s *scene) {
			s.Sightings[1].Over = s.Ended.Add(-4*time.Minute - time.Millisecond)
		}},
		{"something is written elsewhere", "I8", "somebody wrote elsewhere",
			func(s *scene) { s.put("elsewhere", "x") }},
	}
}

func orderViolations() []violation {
	get := func(client int, at time.Duration, state history.State, round uint32) history.Operation {
		return history.Operation{Client: client, Kind: history.Get, Job: "a", Outcome: history.OK, Invoked: at,
			Returned: at + 1,
			Seen:     &history.Job{ID: "a", SpecHash: "h", State: state, Round: round}}
	}
	return []violation{
		{"a read is stale", "I4", "not linearizable", func(s *scene) {
			s.Operations = append(s.Operations,
				history.Operation{Client: 3, Kind: history.Get, Job: "a", Outcome: history.Refused,
					Code: history.NotFound, Invoked: 30, Returned: 31})
		}},
		{"a state goes back", "I7", "was running in round 0", func(s *scene) {
			s.Operations = append(s.Operations, get(3, 5, history.Running, 0), get(4, 7, history.Planning, 0))
		}},
		{"a round goes back", "I7", "was running in round 3", func(s *scene) {
			s.Operations = append(s.Operations, get(3, 5, history.Running, 3), get(4, 7, history.Running, 2))
		}},
		{"an ended job goes on", "I7", "later running",
			func(s *scene) { s.Operations = append(s.Operations, get(3, 30, history.Running, 9)) }},
		{"a terminal state changes", "I7", "ended as",
			func(s *scene) { s.Operations = append(s.Operations, get(3, 30, history.Failed, 0)) }},
		{"a job is in no known state", "I7", "is told to be",
			func(s *scene) { s.Operations = append(s.Operations, get(3, 30, "weird", 0)) }},
		{"a term goes back", "I7", "was told of term 2, index 7", func(s *scene) {
			s.Operations = append(s.Operations,
				history.Operation{Client: 1, Kind: history.Status, Invoked: 30, Returned: 31,
					Status: &history.Position{Term: 1, Index: 8}})
		}},
		{"an index goes back", "I7", "was told of term 2, index 7", func(s *scene) {
			s.Operations = append(s.Operations,
				history.Operation{Client: 1, Kind: history.Status, Invoked: 30, Returned: 31,
					Status: &history.Position{Term: 2, Index: 6}})
		}},
	}
}

// TestEveryViolationIsFound harms the clean scene in one way each.
func TestEveryViolationIsFound(t *testing.T) {
	for _, harmed := range violations() {
		t.Run(harmed.name, func(t *testing.T) {
			s := calm(t)
			harmed.harm(s)
			results := s.check()
			if !checker.Violated(results) {
				t.Error("the run passed")
			}
			for _, r := range results {
				if r.ID == harmed.id && strings.Contains(strings.Join(r.Found, "\n"), harmed.says) {
					return
				}
			}
			t.Errorf("want %s to say %q; all: %+v", harmed.id, harmed.says, results)
		})
	}
}

// TestAnswersOfTheSameTimeHaveNoOrder: a call that was under way while another was answered may
// have been answered before.
func TestAnswersOfTheSameTimeHaveNoOrder(t *testing.T) {
	s := calm(t)
	s.Operations = append(s.Operations,
		history.Operation{Client: 3, Kind: history.Get, Job: "a", Outcome: history.OK, Invoked: 16, Returned: 40,
			Seen: &history.Job{ID: "a", State: history.Running}})
	for _, r := range s.check() {
		if r.ID == "I7" && !r.Holds() {
			t.Errorf("%v", r.Found)
		}
	}
}
