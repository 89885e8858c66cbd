package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// fill puts n entries into the log: a job of n leaves, each made by another worker.
func (q *quorum) fill(id string, entries uint32) {
	q.Helper()
	q.submit(id)
	await(q.T, q.leader(), id+" is planning", inStage(id, pb.JobState_JOB_STATE_PLANNING))
	q.complete(&pb.Completion{Id: &pb.TaskID{JobId: id, Kind: pb.TaskKind_TASK_KIND_PLAN}, Output: planOutput(entries)})
	for leaf := range entries {
		done := leafDone(id, leaf)
		done.Worker = fmt.Sprint("w", leaf)
		q.complete(done)
	}
}

// complete reports a result, again where the lead moved meanwhile, as workers do.
func (q *quorum) complete(done *pb.Completion) {
	q.Helper()
	q.poll("a result to be taken", func() bool {
		verdict, err := onlyVerdict(q.leader().leads.Log().Complete(q.Context(), done))
		if err != nil && connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			q.Fatalf("complete %v: %v", done.GetId(), err)
		}
		if err == nil && verdict != pb.Verdict_VERDICT_ACCEPTED && verdict != pb.Verdict_VERDICT_DUPLICATE {
			q.Fatalf("complete %v: %v", done.GetId(), verdict)
		}
		return err == nil
	})
}

// Three members hash the same state at each checkpoint, whose entries are in nobody's way.
func TestMembersAgreeAtCheckpoints(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	q.fill("a", 60)
	q.poll("a checkpoint on which all agree", func() bool {
		res, err := q.leader().leads.Status(t.Context(), &pb.StatusRequest{})
		if err != nil {
			return false
		}
		if res.GetCheckpointMismatches() > 0 {
			t.Fatalf("the members' states differ: %d mismatches, %v agree", res.GetCheckpointMismatches(),
				res.GetCheckpointAgreed())
		}
		return res.GetCheckpointIndex() > 30 && slices.Equal(res.GetCheckpointAgreed(), []string{"c1", "c2", "c3"})
	})
}

// A member whose state differs ends itself and says why; the others go on, though it was the leader.
func TestWhoDiffersEnds(t *testing.T) {
	for _, who := range []string{"follower", "leader"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			q := startQuorum(t, 3)
			odd := q.leader()
			if who == "follower" {
				odd = q.follower()
			}
			view, _ := odd.fsm.View()
			ghost, _ := state.Apply(view,
				&pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: "ghost", SpecHash: "h"}}})
			pretend(t, odd, ghost)
			q.fill("a", 60)
			select {
			case err := <-odd.Failed():
				if !errors.Is(err, node.ErrDiverged) {
					t.Errorf("failed with %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("a member whose state differs goes on")
			}
			for id, c := range q.members {
				select {
				case err := <-c.Failed():
					if c != odd {
						t.Errorf("%s failed too: %v", id, err)
					}
				default:
				}
			}
			q.stop(odd.cfg.NodeID)
			q.submit("after")
			if _, err := q.start(odd.cfg.NodeID, odd.cfg.DataDir); !errors.Is(err, node.ErrDataDir) ||
				!strings.Contains(err.Error(), "state differs") {
				t.Errorf("started again: %v", err)
			}
		})
	}
}

// A member of a quiet cluster that differs is found by time, without new entries.
func TestCheckpointOfAQuietCluster(t *testing.T) {
	t.Parallel()
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	for _, id := range []string{"c1", "c2", "c3"} {
		cfg := q.config(id, t.TempDir())
		// far longer than members take to tell their hashes, or they tell of different checkpoints
		cfg.CheckpointEvery, cfg.checkpointAfter = 1_000_000, 2*time.Second
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(3)
	q.poll("a checkpoint on which all agree", func() bool {
		res, err := q.leader().leads.Status(t.Context(), &pb.StatusRequest{})
		if err != nil {
			return false
		}
		return slices.Equal(res.GetCheckpointAgreed(), []string{"c1", "c2", "c3"})
	})
}
