package coordinator

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// completeAll reports each completion from a goroutine of its own while the disk
// is stalled, then lets go, and checks the verdicts.
func completeAll(t *testing.T, c *Coordinator, d *disk, list []*pb.Completion) {
	t.Helper()
	release := d.stall()
	defer release()
	var reports sync.WaitGroup
	for _, completion := range list {
		reports.Go(func() {
			if verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(), completion)); err != nil ||
				verdict != pb.Verdict_VERDICT_ACCEPTED {
				t.Errorf("leaf %d: %v %v", completion.GetId().GetIndex(), verdict, err)
			}
		})
	}
	synctest.Wait() // one is in the log store, the others wait
	release()
	reports.Wait()
}

// What arrives while an entry is committing goes into the next one together, and no
// time passes over it.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := startTest(t, d.under(testConfig("")))
		planTest(t, c, "a", 200)
		var list []*pb.Completion
		for leaf := range uint32(200) {
			list = append(list, leafDone("a", leaf))
		}
		before, began := c.member.Raft.LastIndex(), time.Now()
		completeAll(t, c, d, list)
		if entries := c.member.Raft.LastIndex() - before; entries > 2 {
			t.Errorf("200 completions took %d entries, want the first ones and the others together", entries)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("a completion waited for a timer: %v", took)
		}
		if view, _ := c.fsm.View(); mustJob(t, view, "a").Rounds.Open.Covered != 200 {
			t.Error("not every leaf is committed")
		}
		stopTest(t, c)
	})
}

func mustJob(t *testing.T, view state.State, id string) *state.Job {
	t.Helper()
	job, ok := view.Job(id)
	if !ok {
		t.Fatalf("no job %s", id)
	}
	return job
}

func TestGroupsKeepTheEntryLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := startTest(t, d.under(testConfig("")))
		planTest(t, c, "a", 1000)
		var list []*pb.Completion
		for leaf := range uint32(600) { // 256 a group; the first takes what is there when it begins
			list = append(list, leafDone("a", leaf))
		}
		before := c.member.Raft.LastIndex()
		completeAll(t, c, d, list)
		if entries := c.member.Raft.LastIndex() - before; entries < 3 || entries > 4 {
			t.Errorf("600 completions took %d entries", entries)
		}
		list = nil
		for leaf := range uint32(7) { // two of them fit an entry
			fat := leafDone("a", 600+leaf)
			fat.Worker = strings.Repeat("x", 100<<10)
			list = append(list, fat)
		}
		before = c.member.Raft.LastIndex()
		completeAll(t, c, d, list)
		if entries := c.member.Raft.LastIndex() - before; entries != 4 {
			t.Errorf("7 fat completions took %d entries", entries)
		}
		if d.longest > outcome.MaxEntryBytes {
			t.Errorf("an entry has %d bytes", d.longest)
		}
		stopTest(t, c)
	})
}

func TestEntriesAreBoundedBeforeTheyAreProposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		planTest(t, c, "a", 4)
		before := c.member.Raft.LastIndex()
		fat := leafDone("a", 0)
		fat.Worker = strings.Repeat("x", outcome.MaxEntryBytes/2)
		verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(), fat))
		if err != nil || verdict != pb.Verdict_VERDICT_INVALID {
			t.Errorf("a completion: %v, %v", verdict, err)
		}
		cmd := &pb.Command{Body: &pb.Command_Fail{Fail: &pb.FailJob{Id: "a",
			Failure: &pb.Failure{Message: strings.Repeat("x", outcome.MaxEntryBytes)}}}}
		_, err = c.leads.Log().Propose(t.Context(), cmd)
		if !errors.Is(err, outcome.ErrEntryTooBig) || connect.CodeOf(outcome.Wire(err)) != connect.CodeInvalidArgument {
			t.Errorf("a command: %v", err)
		}
		if after := c.member.Raft.LastIndex(); after != before {
			t.Errorf("%d entries were written all the same", after-before)
		}
		stopTest(t, c)
	})
}

// A call whose caller gives up, or whose time is over, has an unknown outcome:
// here it is committed all the same, and repeating it says so.
func TestUnknownOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := startTest(t, d.under(testConfig("")))
		planTest(t, c, "a", 4)
		release := d.stall()
		defer release()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.leads.Log().Complete(impatient, leafDone("a", 0)); !errors.Is(err,
			outcome.ErrUnknownOutcome) || connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			t.Errorf("the caller gave up: %v", err)
		}
		began := time.Now()
		if _, err := c.leads.Log().Propose(t.Context(),
			&pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "b"}}}); err == nil ||
			time.Since(began) > 2*c.cfg.ApplyTimeout {
			t.Errorf("the log hangs: %v after %v", err, time.Since(began))
		}
		release()
		if verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(), leafDone("a", 0))); err != nil ||
			verdict != pb.Verdict_VERDICT_DUPLICATE {
			t.Errorf("repeated: %v %v", verdict, err)
		}
		stopTest(t, c)
		if _, err := c.leads.Log().Complete(t.Context(), leafDone("a", 1)); !errors.Is(err, outcome.ErrShutdown) {
			t.Errorf("after the end: %v", err)
		}
		if _, err := c.leads.Log().Propose(t.Context(), &pb.Command{}); err == nil {
			t.Error("proposed after the end")
		}
	})
}
