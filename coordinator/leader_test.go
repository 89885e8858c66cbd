package coordinator

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func TestMemoryClusterElectsItselfAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := startTest(t, testConfig(""))
		if took := time.Since(began); took > 150*time.Millisecond {
			t.Errorf("led after %v", took)
		}
		stopTest(t, c)
	})
}

// A leader that cannot commit its first entries tries again: nobody else would lead.
func TestLeadershipIsTakenUpWhenTheLogRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		stalled := make(chan func(), 1)
		cfg := testConfig("")
		cfg.wrapLog = func(store node.DurableStore) node.DurableStore {
			d.DurableStore = store
			return &stallAfterBootstrap{disk: d, stalled: stalled}
		}
		done := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(done)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			c, err := Start(ctx, cfg)
			if err != nil {
				t.Error(err)
				return
			}
			if took := time.Since(began); took < time.Minute || took > time.Minute+30*time.Second {
				t.Errorf("led after %v; the log hung for a minute", took)
			}
			stopTest(t, c)
		}()
		release := <-stalled
		<-time.After(time.Minute)
		release()
		<-done
	})
}

// stallAfterBootstrap stalls its disk once the first entry, the configuration, is written.
type stallAfterBootstrap struct {
	*disk
	stalled chan func()
	once    bool
}

func (s *stallAfterBootstrap) SetUint64(key []byte, value uint64) error {
	if err := s.disk.SetUint64(key, value); err != nil {
		return err
	}
	if !s.once { // the term of the first election; its first entry comes next
		s.once = true
		s.stalled <- s.stall()
	}
	return nil
}

// When leadership is lost, duties end, waiting calls are sent elsewhere, and reads
// are refused: this member's state may be old.
func TestLosingLeadershipEndsItsDuties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		submitTest(t, c, "a")
		view := await(t, c, "a is planning", inStage("a", pb.JobState_JOB_STATE_PLANNING))
		lead, err := c.leads.Leadership()
		if err != nil {
			t.Fatal(err)
		}
		service := c.services.Workers
		registerTest(t, c, "w", 1)
		leaseTest(t, c, "w", 1) // the plan; nothing is left
		waiting := make(chan error, 1)
		go func() {
			_, err := service.Lease(t.Context(),
				connect.NewRequest(&pb.LeaseRequest{WorkerId: "w", MaxTasks: 1, WaitMs: 20_000}))
			waiting <- err
		}()
		synctest.Wait()
		if err := c.member.Raft.Shutdown().Error(); err != nil { // as raft ends a leadership
			t.Fatal(err)
		}
		if err := <-waiting; !errors.Is(err, outcome.ErrNotLeader) ||
			connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			t.Errorf("a waiting lease: %v", err)
		}
		synctest.Wait()
		if lead.Ctx.Err() == nil {
			t.Error("the duties of the lost leadership go on")
		}
		wantNotLeader(t, c)
		if after, _ := c.fsm.View(); after.Digest() != view.Digest() {
			t.Error("something was decided after the end")
		}
		stopTest(t, c)
	})
}

// wantNotLeader calls everything that needs a leader.
func wantNotLeader(t *testing.T, c *Coordinator) {
	t.Helper()
	jobs, workers := c.services.Jobs, c.services.Workers
	calls := map[string]func() error{
		"Get": func() error {
			_, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "a"}))
			return err
		},
		"List": func() error {
			_, err := jobs.List(t.Context(), connect.NewRequest(&pb.ListRequest{}))
			return err
		},
		"Submit": func() error {
			_, err := jobs.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: "b", SpecJson: testSpec("b")}))
			return err
		},
		"Cancel": func() error {
			_, err := jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"}))
			return err
		},
		"Status": func() error {
			_, err := c.services.Clusters.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
			return err
		},
		"Register": func() error {
			_, err := workers.Register(t.Context(), connect.NewRequest(&pb.RegisterRequest{WorkerId: "w", Slots: 1}))
			return err
		},
		"Heartbeat": func() error {
			_, err := workers.Heartbeat(t.Context(), connect.NewRequest(&pb.HeartbeatRequest{WorkerId: "w"}))
			return err
		},
		"Complete": func() error {
			_, err := workers.Complete(t.Context(), connect.NewRequest(&pb.CompleteRequest{WorkerId: "w"}))
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, outcome.ErrNotLeader) ||
			connect.CodeOf(outcome.Wire(err)) != connect.CodeUnavailable {
			t.Errorf("%s without leadership: %v", name, err)
		}
	}
}

// A decision whose entry was lost is proposed again, though nothing changes meanwhile.
func TestDecisionsAreProposedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		cfg := d.under(testConfig(""))
		cfg.ApplyTimeout = time.Second
		c := startTest(t, cfg)
		view, _ := c.fsm.View()
		view, _ = state.Apply(view, &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: "a",
			SpecHash: "h"}}})
		release := d.stall()
		pretend(t, c, view)       // as the submission is applied, the disk begins to hang
		<-time.After(time.Minute) // the decision to start the job is given up, time and again
		release()
		await(t, c, "a is planning", inStage("a", pb.JobState_JOB_STATE_PLANNING))
		stopTest(t, c)
	})
}
