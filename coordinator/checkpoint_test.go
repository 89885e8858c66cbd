package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// fill puts so many entries into the log: a job of as many leaves, each made by another worker.
func (q *quorum) fill(id string, entries uint32) {
	q.Helper()
	c := q.leader()
	planTest(q.T, c, id, entries)
	for leaf := range entries {
		done := leafDone(id, leaf)
		done.Worker = fmt.Sprint("w", leaf)
		if _, err := c.complete(q.Context(), done); err != nil {
			q.Fatal(err)
		}
	}
}

// Three members hash the same state at each checkpoint, whose entries are in nobody's way.
func TestMembersAgreeAtCheckpoints(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	q.fill("a", 60)
	q.poll("a checkpoint on which all agree", func() bool {
		lead, err := q.leader().leader()
		if err != nil {
			return false
		}
		var res pb.StatusResponse
		lead.table.describe(&res)
		if res.GetCheckpointMismatches() > 0 {
			t.Fatalf("the members' states differ: %d mismatches, %v agree", res.GetCheckpointMismatches(), res.GetCheckpointAgreed())
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
			ghost, _ := state.Apply(view, &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: "ghost", SpecHash: "h"}}})
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
			submitTest(t, q.leader(), "after")
			if _, err := q.start(odd.cfg.NodeID, odd.cfg.DataDir); !errors.Is(err, node.ErrDataDir) || !strings.Contains(err.Error(), "state differs") {
				t.Errorf("started again: %v", err)
			}
		})
	}
}

// By hand: after so many entries, or so long after the last one, however quiet the log is.
func TestCheckpointIsDue(t *testing.T) {
	var table checkTable
	const every, after = 100, 10 * time.Minute
	for _, c := range []struct {
		applied, own uint64
		now          time.Duration
		due          bool
	}{
		{50, 0, time.Hour, false}, // a new leader's first look
		{99, 0, time.Hour + time.Second, false},
		{100, 0, time.Hour + time.Second, true},
		{150, 60, time.Hour + time.Second, false}, // an earlier leader made one at 60
		{50, 0, time.Hour + after - 1, false},
		{50, 0, time.Hour + after, true},
	} {
		if got := table.due(c.applied, c.own, every, c.now, after); got != c.due {
			t.Errorf("%+v: %v", c, got)
		}
	}
	table.propose(150, 2*time.Hour)
	for now, due := range map[time.Duration]bool{2*time.Hour + after - 1: false, 2*time.Hour + after: true} {
		if got := table.due(151, 0, every, now, after); got != due {
			t.Errorf("%v: %v", now, got)
		}
	}
}

// A member of a quiet cluster that differs is found by time, without new entries.
func TestCheckpointOfAQuietCluster(t *testing.T) {
	t.Parallel()
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	for _, id := range []string{"c1", "c2", "c3"} {
		cfg := q.config(id, t.TempDir())
		cfg.CheckpointEvery, cfg.checkpointAfter = 1_000_000, time.Millisecond
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(3)
	q.poll("a checkpoint on which all agree", func() bool {
		lead, err := q.leader().leader()
		if err != nil {
			return false
		}
		var res pb.StatusResponse
		lead.table.describe(&res)
		return slices.Equal(res.GetCheckpointAgreed(), []string{"c1", "c2", "c3"})
	})
}

// The table, by hand: digests are letters.
func TestCheckTable(t *testing.T) {
	type told map[raft.ServerID]node.Checkpoint
	at := func(index uint64, digest string) node.Checkpoint {
		return node.Checkpoint{Index: index, Digest: []byte(digest)}
	}
	for name, c := range map[string]struct {
		told     told
		agreed   node.Checkpoint
		findings int
	}{
		"nothing":                {told{}, node.Checkpoint{}, 0},
		"one of three":           {told{"a": at(5, "x")}, node.Checkpoint{}, 0},
		"two of three":           {told{"a": at(5, "x"), "b": at(5, "x")}, at(5, "x"), 0},
		"all":                    {told{"a": at(5, "x"), "b": at(5, "x"), "c": at(5, "x")}, at(5, "x"), 0},
		"one is behind":          {told{"a": at(9, "y"), "b": at(9, "y"), "c": at(5, "x")}, at(9, "y"), 0},
		"two differ so far":      {told{"a": at(5, "x"), "b": at(5, "y")}, node.Checkpoint{}, 0},
		"one differs":            {told{"a": at(5, "x"), "b": at(5, "y"), "c": at(5, "x")}, at(5, "x"), 1},
		"all differ":             {told{"a": at(5, "x"), "b": at(5, "y"), "c": at(5, "z")}, node.Checkpoint{}, 3},
		"somebody without voice": {told{"a": at(5, "x"), "b": at(5, "y"), "d": at(5, "y")}, node.Checkpoint{}, 0},
	} {
		var table checkTable
		for id, c := range c.told {
			table.note(id, c)
		}
		for range 2 { // it is said once
			findings := table.judge([]raft.ServerID{"c", "a", "b"})
			if got := table.agreement(); got.Index != c.agreed.Index || string(got.Digest) != string(c.agreed.Digest) || len(findings) != c.findings {
				t.Errorf("%s: agreed %v, findings %q; want %v and %d", name, got, findings, c.agreed, c.findings)
			}
			c.findings = 0
		}
	}
}
