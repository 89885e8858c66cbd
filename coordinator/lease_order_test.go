package coordinator

import (
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A commit that lands while a call for work waits for the board must not be looked past: that
// call would strike its leaves off the search for merges, and the last merge of a round would
// never be leased.
func TestCommitWhileALeaseWaitsForTheBoard(t *testing.T) {
	c := startTest(t, testConfig(""))
	registerTest(t, c, "w", 2)
	planTest(t, c, "a", 2)
	leaves := leaseTest(t, c, "w", 2).GetTasks()
	output := &pb.TaskOutput{Object: object(9)}
	wantVerdicts(t, completeTest(t, c, "w", made(leaves[0], output)), pb.Verdict_VERDICT_ACCEPTED)
	leaseTest(t, c, "w", 0)

	lead, err := c.leads.Leadership()
	if err != nil {
		t.Fatal(err)
	}
	calling, merges := make(chan struct{}), make(chan int)
	lease := func() {
		close(calling)
		res, err := c.services.Workers.Lease(t.Context(),
			connect.NewRequest(&pb.LeaseRequest{WorkerId: "w", MaxTasks: 1, WaitMs: 2000}))
		if err != nil {
			t.Error(err)
			merges <- 0
			return
		}
		merges <- len(res.Msg.GetTasks())
	}
	lead.Update(func(board *schedule.Board) {
		go lease()
		<-calling
		last := &pb.Completion{Id: leaves[1].GetId(), Output: output, Worker: "w"}
		if _, err := c.leads.Log().Complete(t.Context(), last); err != nil {
			t.Error(err)
		}
		view, _ := c.fsm.View()
		leaf := schedule.Task{JobID: "a", Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Node: protocol.Node{Index: 1}}
		board.Done(mustJob(t, view, "a"), leaf, "w", true, c.clock.Mono())
	})
	if n := <-merges; n != 1 {
		t.Errorf("%d tasks leased, want the merge", n)
	}
	stopTest(t, c)
}
