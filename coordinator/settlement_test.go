package coordinator

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// Results of one call share an entry of the log, and each is judged by itself: two good ones, one under a forged token,
// one without a digest, and a failure.
func TestOneBadResultSpoilsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		planTest(t, c, "a", 5)
		registerTest(t, c, "w", 5)
		leaves := leaseTest(t, c, "w", 5).GetTasks()
		forged := proto.CloneOf(leaves[1])
		forged.Token.Mac[0] ^= 1
		before := c.member.Raft.LastIndex()
		wantVerdicts(t, completeTest(t, c, "w",
			made(leaves[0], &pb.TaskOutput{Object: object(10)}),
			made(forged, &pb.TaskOutput{Object: object(11)}),
			made(leaves[2], &pb.TaskOutput{}),
			broke(leaves[3], pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE, "no store"),
			made(leaves[4], &pb.TaskOutput{Object: object(14)})),
			pb.Verdict_VERDICT_ACCEPTED, pb.Verdict_VERDICT_UNGRANTED, pb.Verdict_VERDICT_INVALID,
			pb.Verdict_VERDICT_NOTED, pb.Verdict_VERDICT_ACCEPTED)
		if entries := c.member.Raft.LastIndex() - before; entries != 1 {
			t.Errorf("the call took %d entries", entries)
		}
		view, _ := c.fsm.View()
		if covered := mustJob(t, view, "a").Rounds.Open.Covered; covered != 2 {
			t.Errorf("%d leaves are committed", covered)
		}
		again := leaseTest(t, c, "w", 1).GetTasks() // when it has waited for its turn
		again = append(again, leaseTest(t, c, "w", 1).GetTasks()...)
		if i, j := again[0].GetId().GetIndex(), again[1].GetId().GetIndex(); min(i, j) != 2 || max(i, j) != 3 {
			t.Errorf("leaves %d and %d are leased again", i, j)
		}
		stopTest(t, c)
	})
}

// Results whose call was cut off while their entry was on its way are committed or not, all of them; the same call
// again says so, and the board hears of it.
func TestACallThatWasCutOffIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := startTest(t, d.under(testConfig("")))
		planTest(t, c, "a", 2)
		registerTest(t, c, "w", 2)
		var results []*pb.TaskResult
		for i, task := range leaseTest(t, c, "w", 2).GetTasks() {
			results = append(results, made(task, &pb.TaskOutput{Object: object(byte(10 + i))}))
		}
		release := d.stall()
		defer release()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.services.Workers.Complete(impatient,
			connect.NewRequest(&pb.CompleteRequest{WorkerId: "w", Results: results}))
		if connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			t.Errorf("the call that was cut off: %v", err)
		}
		release()
		wantVerdicts(t, completeTest(t, c, "w", results...), pb.Verdict_VERDICT_DUPLICATE,
			pb.Verdict_VERDICT_DUPLICATE)
		if merge := leaseTest(t, c, "w", 1).GetTasks()[0]; len(merge.GetPieces()) != 2 {
			t.Errorf("no merge, but %v", merge)
		}
		stopTest(t, c)
	})
}

// A leadership that ends while results are on their way answers that their outcome is not known; nothing hangs.
func TestResultsWhenTheLeadIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := startTest(t, d.under(testConfig("")))
		planTest(t, c, "a", 2)
		registerTest(t, c, "w", 2)
		leaves := leaseTest(t, c, "w", 2).GetTasks()
		release := d.stall()
		defer release()
		answer := make(chan error, 1)
		go func() {
			_, err := c.services.Workers.Complete(t.Context(), connect.NewRequest(&pb.CompleteRequest{WorkerId: "w",
				Results: []*pb.TaskResult{made(leaves[0], &pb.TaskOutput{Object: object(10)}),
					made(leaves[1], &pb.TaskOutput{Object: object(11)})}}))
			answer <- err
		}()
		synctest.Wait()
		ended := c.member.Raft.Shutdown()
		release()
		if err := ended.Error(); err != nil {
			t.Fatal(err)
		}
		if err := <-answer; err != nil && connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			t.Errorf("results whose leader was lost: %v", err)
		}
		stopTest(t, c)
	})
}

// asked is what a call for tasks came to.
type asked struct {
	worker string
	tasks  int
	err    error
}

// Calls for tasks are answered in the order in which they came, each once; who gave up is passed over, and who found
// nothing hears so at the end of its time.
func TestCallsForTasksWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		answers := make(chan asked, 4)
		ask := func(ctx context.Context, worker string) {
			registerTest(t, c, worker, 1)
			go func() {
				res, err := c.services.Workers.Lease(ctx,
					connect.NewRequest(&pb.LeaseRequest{WorkerId: worker, MaxTasks: 1, WaitMs: 5000}))
				got := asked{worker: worker, err: err}
				if err == nil {
					got.tasks = len(res.Msg.GetTasks())
				}
				answers <- got
			}()
			synctest.Wait()
		}
		leaving, leave := context.WithCancel(t.Context())
		ask(leaving, "z")
		ask(t.Context(), "y")
		ask(t.Context(), "x")
		leave()
		if got := <-answers; got.worker != "z" || !errors.Is(got.err, context.Canceled) {
			t.Errorf("the call that was given up: %+v", got)
		}
		began := time.Now()
		submitTest(t, c, "a")
		if got := <-answers; got != (asked{worker: "y", tasks: 1}) {
			t.Errorf("the plan: %+v", got)
		}
		planned(t, c, "a", 1)
		if got := <-answers; got != (asked{worker: "x", tasks: 1}) || time.Since(began) != 0 {
			t.Errorf("the leaf, after %v: %+v", time.Since(began), got)
		}
		ask(t.Context(), "w")
		if got := <-answers; got != (asked{worker: "w"}) || time.Since(began) != 5*time.Second {
			t.Errorf("with nothing left, after %v: %+v", time.Since(began), got)
		}
		stopTest(t, c)
	})
}
