package coordinator

import (
	"strings"
	"testing"
	"testing/synctest"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// Who was leased nothing commits nothing and fails nothing, whatever worker's token it holds.
func TestAStrangersResultsCountForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 4)
		planTest(t, c, "a", 2)
		leaves := leaseTest(t, c, "w", 2).GetTasks()
		wantVerdicts(t, completeTest(t, c, "w", made(leaves[0], &pb.TaskOutput{Object: object(9)})),
			pb.Verdict_VERDICT_ACCEPTED)
		step := &pb.TaskID{JobId: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_STEP}
		lie := &pb.TaskOutput{Object: object(66), Next: &pb.Next{Done: true, State: object(66)}}
		failure := &pb.Failure{Code: "X", Class: pb.FailureClass_FAILURE_CLASS_INPUT,
			Message: "bad input, says a stranger"}
		forged := &pb.LeaseToken{Term: leaves[0].GetToken().GetTerm(), Sequence: 1, Mac: make([]byte, 16)}
		registerTest(t, c, "rogue", 1)
		for _, worker := range []string{"rogue", "nobody"} {
			for name, r := range map[string]*pb.TaskResult{
				"a committed leaf, without a token": {Id: leaves[0].GetId(),
					Outcome: &pb.TaskResult_Output{Output: lie}},
				"a committed leaf, by a forged token": {Id: leaves[0].GetId(), Token: forged,
					Outcome: &pb.TaskResult_Output{Output: lie}},
				"a leaf, by another's token": {Id: leaves[1].GetId(), Token: leaves[1].GetToken(),
					Outcome: &pb.TaskResult_Output{Output: lie}},
				"a step, without a token": {Id: step, Outcome: &pb.TaskResult_Output{Output: lie}},
				"a step, by a leaf's token": {Id: step, Token: leaves[0].GetToken(),
					Outcome: &pb.TaskResult_Output{Output: lie}},
				"a failure, without a token": {Id: leaves[1].GetId(),
					Outcome: &pb.TaskResult_Failure{Failure: failure}},
				"a failure, by another's token": {Id: leaves[1].GetId(), Token: leaves[1].GetToken(),
					Outcome: &pb.TaskResult_Failure{Failure: failure}},
			} {
				if got := completeTest(t, c, worker, r); got[0] != pb.Verdict_VERDICT_UNGRANTED {
					t.Errorf("%s, by %s: %v", name, worker, got)
				}
			}
		}
		// The worker's own token is for its own leaf alone.
		other := &pb.TaskResult{Id: leaves[1].GetId(), Token: leaves[0].GetToken(),
			Outcome: &pb.TaskResult_Output{Output: lie}}
		wantVerdicts(t, completeTest(t, c, "w", other), pb.Verdict_VERDICT_UNGRANTED)
		view, _ := c.fsm.View()
		if job := mustJob(t, view, "a"); job.Ended() || job.Rounds.Open.Covered != 1 || job.Counters.Violations != 0 {
			t.Errorf("the job: %v, %d leaves, %+v", job.Stage, job.Rounds.Open.Covered, job.Counters)
		}
		wantVerdicts(t, completeTest(t, c, "w", made(leaves[1], &pb.TaskOutput{Object: object(9)})),
			pb.Verdict_VERDICT_ACCEPTED)
		stopTest(t, c)
	})
}

// Nobody registers or calls under another worker's id, whether it knows the id or not.
func TestAWorkersIDIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		s := c.services.Workers
		secret := []byte(strings.Repeat("k", 32))
		id := protocol.WorkerID(secret)
		register := func(id string, secret []byte, memory int64) error {
			_, err := s.Register(t.Context(),
				connect.NewRequest(&pb.RegisterRequest{WorkerId: id, Name: "n", Slots: 1, Secret: secret,
					MemoryBytes: memory}))
			return err
		}
		stranger := func(what string, err error) {
			t.Helper()
			if connect.CodeOf(err) != connect.CodePermissionDenied {
				t.Errorf("%s: %v", what, err)
			}
		}
		stranger("register first, without the secret", register(id, nil, 1)) // as after a change of leader
		for _, id := range []string{id, "an-older-release"} {
			if err := register(id, secret, 1<<30); err != nil {
				t.Fatal(err)
			}
			if err := register(id, secret, 1<<30); err != nil {
				t.Errorf("it registers again: %v", err)
			}
			for _, other := range [][]byte{nil, []byte("another")} {
				stranger("register", register(id, other, 1))
				_, err := s.Lease(t.Context(),
					connect.NewRequest(&pb.LeaseRequest{WorkerId: id, MaxTasks: 1, Secret: other}))
				stranger("lease", err)
				_, err = s.Heartbeat(t.Context(), connect.NewRequest(&pb.HeartbeatRequest{WorkerId: id, Secret: other}))
				stranger("heartbeat", err)
				_, err = s.Complete(t.Context(), connect.NewRequest(&pb.CompleteRequest{WorkerId: id, Secret: other}))
				stranger("complete", err)
			}
		}
		planTest(t, c, "a", 1)
		res, err := s.Lease(t.Context(),
			connect.NewRequest(&pb.LeaseRequest{WorkerId: id, MaxTasks: 1, WaitMs: 1000, Secret: secret}))
		if err != nil || len(res.Msg.GetTasks()) != 1 {
			t.Errorf("the worker itself, afterwards: %v, %v", res, err)
		}
		stopTest(t, c)
	})
}

// A worker made leaves while the lead moved on. Its tokens are of an earlier term, and the new leader knows no lease of
// them: what the worker made counts all the same, but only from the worker that they were granted to.
func TestTheTokenOfAnEarlierLeader(t *testing.T) {
	q := startQuorum(t, 2)
	first, next := q.leader(), q.follower()
	planTest(t, first, "a", 2)
	registerTest(t, first, "w", 4)
	leaves := leaseTest(t, first, "w", 2).GetTasks()
	q.poll("the other member to lead", func() bool {
		if next.leads.Leads() {
			return true
		}
		if first.leads.Leads() { // a transfer that fails is tried again
			_ = first.member.Raft.LeadershipTransferToServer(raft.ServerID(next.cfg.NodeID),
				next.member.Address).Error()
		}
		return false
	})
	if earlier, now := leaves[0].GetToken().GetTerm(), next.member.Raft.CurrentTerm(); earlier >= now {
		t.Fatalf("a token of term %d in term %d", earlier, now)
	}
	for _, worker := range []string{"w", "rogue"} {
		registerTest(t, next, worker, 2)
	}
	output := &pb.TaskOutput{Object: object(9)}
	for _, leaf := range leaves {
		wantVerdicts(t, completeTest(t, next, "rogue", made(leaf, output)), pb.Verdict_VERDICT_UNGRANTED)
		wantVerdicts(t, completeTest(t, next, "w", made(leaf, output)), pb.Verdict_VERDICT_ACCEPTED)
	}
}
