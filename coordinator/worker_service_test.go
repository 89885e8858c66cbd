package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func registerTest(t *testing.T, c *Coordinator, worker string, slots uint32) *pb.RegisterResponse {
	t.Helper()
	res, err := c.services.Workers.Register(t.Context(),
		connect.NewRequest(&pb.RegisterRequest{WorkerId: worker, Name: worker, Slots: slots, Kernels: "generic"}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg
}

// leaseTest leases tasks; there must be as many as wanted.
func leaseTest(t *testing.T, c *Coordinator, worker string, want int) *pb.LeaseResponse {
	t.Helper()
	req := &pb.LeaseRequest{WorkerId: worker, MaxTasks: uint32(max(want, 1)), WaitMs: 10_000}
	if want == 0 {
		req.WaitMs = 0
	}
	res, err := c.services.Workers.Lease(t.Context(), connect.NewRequest(req))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(res.Msg.GetTasks()); got != want {
		t.Fatalf("%s leased %d tasks, want %d: %v", worker, got, want, res.Msg)
	}
	return res.Msg
}

func completeTest(t *testing.T, c *Coordinator, worker string, results ...*pb.TaskResult) []pb.Verdict {
	t.Helper()
	res, err := c.services.Workers.Complete(t.Context(),
		connect.NewRequest(&pb.CompleteRequest{WorkerId: worker, Results: results}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetVerdicts()
}

func made(task *pb.Task, output *pb.TaskOutput) *pb.TaskResult {
	return &pb.TaskResult{Id: task.GetId(), Token: task.GetToken(), Outcome: &pb.TaskResult_Output{Output: output}}
}

func broke(task *pb.Task, class pb.FailureClass, message string) *pb.TaskResult {
	return &pb.TaskResult{Id: task.GetId(), Token: task.GetToken(), Outcome: &pb.TaskResult_Failure{
		Failure: &pb.Failure{Code: "X", Class: class, Message: message},
	}}
}

// A job by hand, from a submission that a waiting worker gets to see at once.
func TestJobByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		if res := registerTest(t, c, "w", 2); res.GetStoreUri() != "mem://m" || res.GetLeaseTtlMs() != 30_000 ||
			res.GetHeartbeatMs() != 10_000 {
			t.Errorf("registered: %v", res)
		}
		plans := make(chan *pb.LeaseResponse, 1)
		go func() { plans <- leaseTest(t, c, "w", 1) }()
		synctest.Wait()
		began := time.Now()
		submitTest(t, c, "a")
		plan := <-plans
		if took := time.Since(began); took != 0 {
			t.Errorf("the plan was leased %v after the submission", took)
		}
		if b := plan.GetJobs()[0]; b.GetId() != "a" || b.GetPlan() != nil ||
			!strings.Contains(b.GetSpecJson(), "NaiveBayes") {
			t.Errorf("brief of the plan: %v", b)
		}
		wantVerdicts(t, completeTest(t, c, "w", made(plan.GetTasks()[0], planOutput(2))), pb.Verdict_VERDICT_ACCEPTED)
		leaves := leaseTest(t, c, "w", 2)
		if task := leaves.GetTasks()[1]; task.GetTreeLeaves() != 2 || task.GetPhase() != "count" ||
			task.GetState() == nil || task.GetId().GetIndex() != 1 {
			t.Errorf("second task: %v", task)
		}
		var results []*pb.TaskResult
		for i, task := range leaves.GetTasks() {
			results = append(results, made(task, &pb.TaskOutput{Object: object(byte(10 + i))}))
		}
		wantVerdicts(t, completeTest(t, c, "w", results...), pb.Verdict_VERDICT_ACCEPTED, pb.Verdict_VERDICT_ACCEPTED)
		wantVerdicts(t, completeTest(t, c, "w", results...), pb.Verdict_VERDICT_DUPLICATE, pb.Verdict_VERDICT_DUPLICATE)
		merge := leaseTest(t, c, "w", 1).GetTasks()[0]
		if len(merge.GetPieces()) != 2 {
			t.Errorf("merge: %v", merge)
		}
		wantVerdicts(t, completeTest(t, c, "w", made(merge, &pb.TaskOutput{Object: object(20)})),
			pb.Verdict_VERDICT_ACCEPTED)
		step := leaseTest(t, c, "w", 1).GetTasks()[0]
		wantVerdicts(t, completeTest(t, c, "w",
			made(step, &pb.TaskOutput{Next: &pb.Next{Done: true, State: object(30)}})), pb.Verdict_VERDICT_ACCEPTED)
		report := leaseTest(t, c, "w", 1)
		if b := report.GetJobs()[0]; b.GetModel() == nil || len(b.GetRecord().GetRounds()) != 1 ||
			b.GetWorkers()[0] != "w" || b.GetKernels()[0] != "generic" {
			t.Errorf("brief of the report: %v", b)
		}
		files := []*pb.OutputFile{modelTest("a", object(30))}
		wantVerdicts(t, completeTest(t, c, "w", made(report.GetTasks()[0], &pb.TaskOutput{Files: files})),
			pb.Verdict_VERDICT_ACCEPTED)
		view, _ := c.fsm.View()
		if job := mustJob(t, view, "a"); job.Stage != pb.JobState_JOB_STATE_SUCCEEDED || job.Counters.Duplicates != 2 {
			t.Errorf("ended as %v, %+v", job.Stage, job.Counters)
		}
		leaseTest(t, c, "w", 0)
		stopTest(t, c)
	})
}

func wantVerdicts(t *testing.T, got []pb.Verdict, want ...pb.Verdict) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("verdicts %v, want %v", got, want)
	}
}

// A result that is refused would be refused again, so the job fails and does not ask for it without end.
func TestRefusedResultsEndTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		output   *pb.TaskOutput
		attempts int
		says     string
	}{
		"too many leaves": {planOutput(state.MaxLeaves, 1), 1,
			"INPUT_LIMIT: a round of 1048577 leaves in 2 trees; there may be 1048576 in 16384. Raise shard_bytes"},
		"too many trees":    {planOutput(make([]uint32, state.MaxTrees+1)...), 1, "16385 trees"},
		"beyond an entry":   {planOutput(make([]uint32, 200_000)...), 1, "200000 trees"},
		"without a digest":  {&pb.TaskOutput{Next: planOutput(1).Next}, 4, "INTERNAL: the coordinator does not accept"},
		"nothing in it":     {&pb.TaskOutput{}, 4, "INTERNAL"},
		"a tree of nothing": {planOutput(1, 0), 4, "INTERNAL"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				coordinator := startTest(t, testConfig(""))
				registerTest(t, coordinator, "w", 1)
				submitTest(t, coordinator, "a")
				for range c.attempts {
					task := leaseTest(t, coordinator, "w", 1).GetTasks()[0]
					wantVerdicts(t, completeTest(t, coordinator, "w", made(task, c.output)), pb.Verdict_VERDICT_INVALID)
				}
				view, _ := coordinator.fsm.View()
				job := mustJob(t, view, "a")
				if job.Stage != pb.JobState_JOB_STATE_FAILED || !strings.Contains(job.Failure.Message, c.says) {
					t.Errorf("after %d attempts: %v, %+v", c.attempts, job.Stage, job.Failure)
				}
				stopTest(t, coordinator)
			})
		})
	}
}

func TestFailuresThroughTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 1)
		planTest(t, c, "a", 1)
		task := leaseTest(t, c, "w", 1).GetTasks()[0]
		long := broke(task, pb.FailureClass_FAILURE_CLASS_TASK, strings.Repeat("\u00e9", outcome.MaxEntryBytes/4))
		for range 5 { // repeated calls count once
			wantVerdicts(t, completeTest(t, c, "w", long), pb.Verdict_VERDICT_NOTED)
		}
		began := time.Now()
		task = leaseTest(t, c, "w", 1).GetTasks()[0]
		if delay := time.Since(began); delay != c.cfg.Schedule.RetryDelay {
			t.Errorf("leased again after %v, want %v", delay, c.cfg.Schedule.RetryDelay)
		}
		bad := broke(task, pb.FailureClass_FAILURE_CLASS_INPUT, strings.Repeat("\u00e9", outcome.MaxEntryBytes/4))
		wantVerdicts(t, completeTest(t, c, "w", bad), pb.Verdict_VERDICT_NOTED)
		view, _ := c.fsm.View()
		job := mustJob(t, view, "a")
		if job.Stage != pb.JobState_JOB_STATE_FAILED || job.Failure.Worker != "w" ||
			job.Failure.Task != "round 1, tree 0, node 0/0" {
			t.Errorf("%v, %+v", job.Stage, job.Failure)
		}
		stopTest(t, c)
	})
}

// Of several failures of the input in one call, the one with the first leaf ends the job, in whatever order they come.
func TestTheFirstLeafOfACallEndsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 4)
		planTest(t, c, "a", 4)
		var results []*pb.TaskResult
		for i, task := range leaseTest(t, c, "w", 4).GetTasks() {
			results = append(results, broke(task, pb.FailureClass_FAILURE_CLASS_INPUT, fmt.Sprintf("leaf %d", i)))
		}
		results[0] = made(&pb.Task{Id: results[0].GetId(), Token: results[0].GetToken()},
			&pb.TaskOutput{Object: object(10)})
		slices.Reverse(results)
		completeTest(t, c, "w", results...)
		view, _ := c.fsm.View()
		if job := mustJob(t, view, "a"); job.Failure.Message != "leaf 1" || job.Counters.Committed != 2 {
			t.Errorf("%+v, %+v", job.Failure, job.Counters)
		}
		stopTest(t, c)
	})
}

// A worker that falls silent loses its tasks after one TTL, to the worker that waits for them.
func TestSilentWorkersLoseTheirTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "silent", 1)
		planTest(t, c, "a", 1)
		task := leaseTest(t, c, "silent", 1).GetTasks()[0]
		began, ttl := time.Now(), c.cfg.Schedule.LeaseTTL
		<-time.After(ttl / 2)
		registerTest(t, c, "w", 1)
		again := leaseLong(t, c, "w")
		if took := time.Since(began); took != ttl || len(again) != 1 {
			t.Errorf("%d tasks after %v, want 1 after %v", len(again), took, ttl)
		}
		res, err := c.services.Workers.Heartbeat(t.Context(), connect.NewRequest(&pb.HeartbeatRequest{
			WorkerId: "silent", Held: []*pb.HeldTask{{Id: task.GetId(), Token: task.GetToken()}},
		}))
		if err != nil || len(res.Msg.GetLost()) != 1 {
			t.Errorf("heartbeat of the silent worker: %v %v", res, err)
		}
		// It may commit all the same: a lease is permission to work, not to commit.
		wantVerdicts(t, completeTest(t, c, "silent", made(task, &pb.TaskOutput{Object: object(9)})),
			pb.Verdict_VERDICT_ACCEPTED)
		// the phase's leaf that is drawn
		wantVerdicts(t, completeTest(t, c, "w", made(again[0], &pb.TaskOutput{Object: object(9)})),
			pb.Verdict_VERDICT_AUDITED)
		stopTest(t, c)
	})
}

func leaseLong(t *testing.T, c *Coordinator, worker string) []*pb.Task {
	t.Helper()
	res, err := c.services.Workers.Lease(t.Context(),
		connect.NewRequest(&pb.LeaseRequest{WorkerId: worker, MaxTasks: 1, WaitMs: 1 << 30}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetTasks()
}

func TestLeaseWaitsNoLongerThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 1)
		began := time.Now()
		if tasks := leaseLong(t, c, "w"); len(tasks) != 0 || time.Since(began) != 30*time.Second {
			t.Errorf("%d tasks after %v", len(tasks), time.Since(began))
		}
		stopTest(t, c)
	})
}

func TestWorkerCallsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		s := c.services.Workers
		long := strings.Repeat("x", 300)
		for name, req := range map[string]*pb.RegisterRequest{
			"no id":        {Slots: 1},
			"long id":      {WorkerId: long, Slots: 1},
			"no slots":     {WorkerId: "w"},
			"many slots":   {WorkerId: "w", Slots: 5000},
			"long name":    {WorkerId: "w", Slots: 1, Name: long},
			"long kernels": {WorkerId: "w", Slots: 1, Kernels: long},
			"long build":   {WorkerId: "w", Slots: 1, Build: long},
		} {
			if _, err := s.Register(t.Context(),
				connect.NewRequest(req)); connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("register with %s: %v", name, err)
			}
		}
		_, leaseErr := s.Lease(t.Context(), connect.NewRequest(&pb.LeaseRequest{WorkerId: "stranger", MaxTasks: 1}))
		_, beatErr := s.Heartbeat(t.Context(), connect.NewRequest(&pb.HeartbeatRequest{WorkerId: "stranger"}))
		if connect.CodeOf(leaseErr) != connect.CodeNotFound || connect.CodeOf(beatErr) != connect.CodeNotFound {
			t.Errorf("a stranger: %v, %v", leaseErr, beatErr)
		}
		many := make([]*pb.TaskResult, 257)
		if _, err := s.Complete(t.Context(),
			connect.NewRequest(&pb.CompleteRequest{WorkerId: "w", Results: many})); connect.CodeOf(
			err) != connect.CodeInvalidArgument {
			t.Errorf("257 results: %v", err)
		}
		nonsense := []*pb.TaskResult{{}, {Id: &pb.TaskID{JobId: "none", Kind: 99}}, nil}
		wantVerdicts(t, completeTest(t, c, "w", nonsense...), pb.Verdict_VERDICT_UNGRANTED,
			pb.Verdict_VERDICT_UNGRANTED, pb.Verdict_VERDICT_UNGRANTED)
		stopTest(t, c)
		if _, err := s.Lease(t.Context(), connect.NewRequest(&pb.LeaseRequest{WorkerId: "w"})); !errors.Is(err,
			outcome.ErrNotLeader) {
			t.Errorf("after the end: %v", err)
		}
	})
}
