package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// stopped is a job that failed in its third round, with its timeline so far.
func stopped() (*pb.Job, *pb.Timeline) {
	job := &pb.Job{Id: "glosses-k3f9p2", Name: "glosses", Kind: "NaiveBayes", State: pb.JobState_JOB_STATE_FAILED,
		SpecJson:        `{"kind":"NaiveBayes","spec":{"input":{"uri":"s3://corpus/a.tsv"},"params":{"alpha":0.5}}}`,
		SubmittedUnixMs: 1_700_000_000_000, StartedUnixMs: 1_700_000_000_500, FinishedUnixMs: 1_700_000_012_000,
		Progress: &pb.Progress{Round: 3, Phase: "count", Leaves: 8},
		Failure: &pb.Failure{Code: "BAD_RECORD", Class: pb.FailureClass_FAILURE_CLASS_INPUT,
			Message: "BAD_RECORD: a.tsv, line 7: \x1b<b>no</b>", Task: "round 3, tree 0, node 0/5", Worker: "lab-1"}}
	course := &pb.Timeline{Workers: []*pb.TimelineWorker{{Name: "lab-1", Kernels: "avx2", Slots: 2}}}
	for r := range int64(2) {
		from := job.GetSubmittedUnixMs() + 1000 + 4000*r
		job.Rounds = append(job.Rounds, &pb.RoundRecord{Round: uint32(r + 1), Phase: "vocabulary", Leaves: 8,
			StartedUnixMs: from, FinishedUnixMs: from + 4000})
		course.Marks = append(course.Marks, &pb.TimelineMark{FromUnixMs: from, ToUnixMs: from + 3000, Tasks: 8,
			Work: pb.TimelineWork_TIMELINE_WORK_MAP, Round: uint32(r + 1),
			Outcome: pb.TimelineOutcome_TIMELINE_OUTCOME_COMMITTED})
	}
	course.Events = []*pb.TimelineEvent{{AtUnixMs: 1_700_000_011_000, Worker: "lab-1", Task: "round 3, tree 0, node 0/5",
		Kind: pb.TimelineEventKind_TIMELINE_EVENT_KIND_TASK_FAILED}}
	return job, course
}

// The page of a job that failed says why, what to do, and what it had done.
func TestPageOfAFailedJob(t *testing.T) {
	job, course := stopped()
	page, data, err := Ended(job, course, jobs.Kind{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>failed: glosses (alpha 0.5) · glosses-k3f9p2 · Gram</title>", "BAD_RECORD: a.tsv, line 7: ", "&lt;b&gt;no",
		"of class input", "round 3, tree 0, node 0/5", "then submit the job under another id", "s3://corpus/a.tsv",
		"2 rounds<", "1 event<", "task failed", "lab-1 (avx2)", "6 s of work, summed over tasks", "2023-11-14 22:13:32 UTC",
		"round 3, count, of 8 leaves",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	nests(t, page)
	var r endedReport
	if err := json.Unmarshal(data, &r); err != nil || r.State != "failed" || r.Failure.Code != "BAD_RECORD" ||
		r.Failure.Worker != "lab-1" || len(r.Rounds) != 2 || r.Seconds != 12 || len(r.Timeline.Marks) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A job that was cancelled before it began has a page, too.
func TestPageOfACancelledJob(t *testing.T) {
	job := &pb.Job{Id: "a", Kind: "KMeans", State: pb.JobState_JOB_STATE_CANCELLED, SubmittedUnixMs: 1000,
		FinishedUnixMs: 2500, SpecJson: "{"}
	page, data, err := Ended(job, nil, jobs.Kind{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>cancelled: a · Gram</title>", "1.5 s", "No round was finished.", "it was not planned"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if text := string(page); strings.Contains(text, "<h2>Timeline</h2>") || strings.Contains(text, "Why it failed") {
		t.Error("the page tells of what nobody saw")
	}
	nests(t, page)
	if !bytes.Contains(data, []byte(`"state": "cancelled"`)) || !bytes.Contains(data, []byte(`"rounds": []`)) {
		t.Errorf("%s", data)
	}
}

// Every class of fault has a name and an advice; a job's id stands in it.
func TestAdvice(t *testing.T) {
	for number := range pb.FailureClass_name { // in any order
		class := pb.FailureClass(number)
		if class == pb.FailureClass_FAILURE_CLASS_UNSPECIFIED {
			continue
		}
		job := &pb.Job{Id: "spam-7", Failure: &pb.Failure{Code: "STORE_DENIED", Class: class}}
		if f := failureOf(job); f.Class == "" || f.Advice == "" || strings.Contains(f.Advice, "JOB") {
			t.Errorf("%v: %+v", class, f)
		}
	}
	job := &pb.Job{Id: "spam-7", Failure: &pb.Failure{Code: "INTERNAL", Class: pb.FailureClass_FAILURE_CLASS_TASK}}
	if f := failureOf(job); f.Advice != "This is a defect of Gram. Its log has more: gram logs spam-7." {
		t.Errorf("%q", f.Advice)
	}
	if failureOf(&pb.Job{}) != nil {
		t.Error("a job without a failure has one")
	}
}
