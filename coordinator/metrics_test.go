package coordinator

import (
	"strings"
	"testing"
	"testing/synctest"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// The cluster's own store refuses a task, an object is lost, and a worker lies: each shows in its metric.
func TestMetricsOfFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 1)
		registerTest(t, c, "v", 1)
		planSpec(t, c, "a", `{"audit":0}`)
		want := map[string]float64{"gram_store_denied_jobs": 0, "gram_remade_tasks_total": 0,
			"gram_workers_convicted": 0}
		wantMetrics(t, c, want)
		fails := func(worker string, failure *pb.Failure) {
			t.Helper()
			task := leaseTest(t, c, worker, 1).GetTasks()[0]
			result := &pb.TaskResult{Id: task.GetId(), Token: task.GetToken(),
				Outcome: &pb.TaskResult_Failure{Failure: failure}}
			wantVerdicts(t, completeTest(t, c, worker, result), pb.Verdict_VERDICT_NOTED)
			wantMetrics(t, c, want)
		}
		want["gram_store_denied_jobs"] = 1
		fails("w",
			&pb.Failure{Code: string(protocol.CodeStoreDenied), Class: pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE})
		want["gram_store_denied_jobs"] = 0 // a task is done
		for n := range byte(2) {
			leaf := leaseTest(t, c, "v", 1).GetTasks()[0]
			wantVerdicts(t, completeTest(t, c, "v", made(leaf, &pb.TaskOutput{Object: object(10 + n)})),
				pb.Verdict_VERDICT_ACCEPTED)
			wantMetrics(t, c, want)
		}
		lost := &pb.Failure{Code: string(protocol.CodeLost), Class: pb.FailureClass_FAILURE_CLASS_TASK,
			Lost: &pb.LostObject{Round: 1, Object: object(11)}}
		fails("v", lost)
		want["gram_remade_tasks_total"] = 1 // the second worker that says so
		fails("w", lost)
		planSpec(t, c, "b", `{"audit":1}`)
		lie(t, c, "b")
		want["gram_workers_convicted"] = 1
		wantMetrics(t, c, want)
		stopTest(t, c)
	})
}

// planSpec submits a job with its own field run, and completes its plan of two leaves.
func planSpec(t *testing.T, c *Coordinator, id, run string) {
	t.Helper()
	spec := strings.Replace(testSpec(id), `"run":{}`, `"run":`+run, 1)
	if _, err := c.services.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: spec})); err != nil {
		t.Fatal(err)
	}
	await(t, c, id+" is planning", inStage(id, pb.JobState_JOB_STATE_PLANNING))
	plan := &pb.TaskID{JobId: id, Kind: pb.TaskKind_TASK_KIND_PLAN}
	done := &pb.Completion{Id: plan, Output: planOutput(2), Worker: "x", WorkerId: "x"}
	verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(), done))
	if err != nil || verdict != pb.Verdict_VERDICT_ACCEPTED {
		t.Fatalf("plan of %s: %v, %v", id, verdict, err)
	}
}

// lie has worker "l" make a job's first leaf wrongly, and "y" and "z" rightly.
func lie(t *testing.T, c *Coordinator, id string) {
	t.Helper()
	leaf := &pb.TaskID{JobId: id, Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE}
	for _, made := range []struct {
		worker  string
		digest  byte
		verdict pb.Verdict
	}{
		{"l", 66, pb.Verdict_VERDICT_ACCEPTED},
		{"y", 10, pb.Verdict_VERDICT_AUDITED},
		{"z", 10, pb.Verdict_VERDICT_AUDITED},
	} {
		done := &pb.Completion{Id: leaf, Output: &pb.TaskOutput{Object: object(made.digest)}, Worker: made.worker,
			WorkerId: made.worker}
		verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(), done))
		if err != nil || verdict != made.verdict {
			t.Fatalf("leaf of %s by %s: %v, %v; want %v", id, made.worker, verdict, err, made.verdict)
		}
	}
}
