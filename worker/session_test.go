package worker

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

func TestRegistration(t *testing.T) {
	withWorker(t, 3, func(s *shift) {
		s.until(t, "it asks for tasks", func() bool { return len(s.asked) > 0 })
		if r := s.registers[0]; r.GetName() != "w" || r.GetSlots() != 3 || r.GetKernels() != "generic" ||
			len(r.GetHeld()) != 0 || r.GetWorkerId() != protocol.WorkerID(r.GetSecret()) {
			t.Errorf("registered as %v", r)
		}
		if s.asked[0] != 3 {
			t.Errorf("asked for %d tasks with 3 slots free", s.asked[0])
		}
		s.begin(1, 1)
		s.until(t, "it asks again", func() bool { return len(s.asked) > 1 })
		if s.asked[1] != 2 {
			t.Errorf("asked for %d tasks with 2 slots free", s.asked[1])
		}
		s.close(25*time.Second, ErrDrainTimeout)
	})
}

func TestLostLeasesStopTheirTasks(t *testing.T) {
	withWorker(t, 2, func(s *shift) {
		works := s.begin(1, 2)
		s.mu.Lock()
		s.lost = []*pb.TaskID{s.leaseOf(t, 1, 1).GetTasks()[0].GetId()}
		s.mu.Unlock()
		began := time.Now()
		<-works[0].ctx.Done()
		if took := time.Since(began); took > testBeat || !errors.Is(context.Cause(works[0].ctx), errLost) {
			t.Errorf("stopped after %v by %v", took, context.Cause(works[0].ctx))
		}
		s.mu.Lock()
		s.lost = nil
		s.mu.Unlock()
		works[1].finish <- nil
		s.until(t, "the other is reported", func() bool { return len(s.results) == 1 })
		s.begin(3, 2) // both slots are free
		if _, err := s.reported(1); err == nil {
			t.Error("a task whose lease was lost was reported")
		}
		s.close(25*time.Second, ErrDrainTimeout)
		s.wantOutput(2)
	})
}

// With every slot taken nobody asks for tasks, yet a new leader must learn what is
// held before it leases it to others.
func TestNewLeaderLearnsWhatIsHeld(t *testing.T) {
	withWorker(t, 2, func(s *shift) {
		works := s.begin(1, 2)
		s.breaks(code(connect.CodeNotFound), "Lease", "Heartbeat")
		s.until(t, "it registers again", func() bool { return len(s.registers) == 2 })
		held := s.registers[1].GetHeld()
		if len(held) != 2 || held[0].GetToken().GetTerm() != 1 ||
			held[0].GetToken().GetSequence() != uint64(held[0].GetId().GetRound()) {
			t.Errorf("announced %v", held)
		}
		if s.registers[1].GetWorkerId() != s.registers[0].GetWorkerId() {
			t.Error("registered as somebody else")
		}
		<-time.After(2 * testTTL)
		for i, w := range works {
			if w.ctx.Err() != nil {
				t.Errorf("task %d was stopped: %v", i+1, context.Cause(w.ctx))
			}
			w.finish <- nil
		}
		s.until(t, "both are reported", func() bool { return len(s.results) == 2 })
		s.breaks(code(connect.CodeNotFound), "Lease") // and an idle one learns it by asking
		s.until(t, "it registers a third time", func() bool { return len(s.registers) == 3 })
		s.begin(3, 1)[0].finish <- nil
		s.close(25*time.Second, nil)
		s.wantOutput(3)
	})
}

func TestUnreachableCoordinator(t *testing.T) {
	for name, failure := range map[string]error{"refuses": code(connect.CodeUnavailable), "hangs": errHang,
		"fails": code(connect.CodeInternal)} {
		t.Run(name, func(t *testing.T) {
			withWorker(t, 2, func(s *shift) {
				works := s.begin(1, 2)
				works[1].finish <- nil // reported as soon as somebody listens
				s.until(t, "it is reported", func() bool { return len(s.results) == 1 })
				s.breaks(failure, allMethods...)
				began := time.Now()
				<-works[0].ctx.Done()
				if took := time.Since(began); took < testTTL-testBeat || took > testTTL+2*testBeat {
					t.Errorf("a task that could not be renewed was stopped after %v", took)
				}
				<-time.After(time.Hour)
				select {
				case err := <-s.done:
					t.Fatalf("the worker gave up: %v", err)
				default:
				}
				s.breaks(nil, allMethods...)
				back := time.Now()
				s.begin(3, 2)[0].finish <- nil
				if took := time.Since(back); took > leaseWait+callLimit+3*time.Second {
					t.Errorf("back at work after %v", took)
				}
				s.close(25*time.Second, ErrDrainTimeout)
				s.wantOutput(3)
			})
		})
	}
}

// Results wait for a coordinator that is away; nothing is computed for nothing.
func TestResultsOutliveAnOutage(t *testing.T) {
	withWorker(t, 2, func(s *shift) {
		works := s.begin(1, 2)
		s.breaks(code(connect.CodeUnavailable), "Complete")
		works[0].finish <- nil
		works[1].finish <- errors.New("broke")
		<-time.After(time.Minute)
		s.breaks(nil, "Complete")
		s.until(t, "both are reported", func() bool { return len(s.results) == 2 })
		s.wantOutput(1)
		s.wantFailure(2, protocol.CodeInternal, pb.FailureClass_FAILURE_CLASS_TASK)
		s.close(0, nil)
	})
}

func TestRefusedToken(t *testing.T) {
	for _, c := range []connect.Code{connect.CodeUnauthenticated, connect.CodePermissionDenied} {
		t.Run(c.String(), func(t *testing.T) {
			withWorker(t, 1, func(s *shift) { // revoked while it waits for tasks
				s.until(t, "it asks for tasks", func() bool { return len(s.asked) > 0 })
				s.breaks(code(c), allMethods...)
				select {
				case err := <-s.done:
					if !errors.Is(err, ErrDenied) {
						t.Errorf("Run returned %v", err)
					}
				case <-time.After(leaseWait + time.Minute):
					t.Error("it goes on")
				}
				s.end()
			})
		})
	}
}

// From the start, over a real connection.
func TestRefusedTokenAtTheStart(t *testing.T) {
	o := newOffice()
	o.breaks(code(connect.CodeUnauthenticated), "Register")
	_, handler := gramv1connect.NewWorkerServiceHandler(o)
	server := httptest.NewServer(handler)
	defer server.Close()
	cfg := o.config(&bench{}, 1)
	cfg.Client = gramv1connect.NewWorkerServiceClient(server.Client(), server.URL)
	if err := Run(t.Context(), cfg); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "worker.token") {
		t.Errorf("Run returned %v", err)
	}
	server.Client().CloseIdleConnections()
}

func TestWaitsForACoordinatorThatIsNotThereYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), &bench{begun: make(chan *work)}
		o.breaks(code(connect.CodeUnavailable), "Register")
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Run(ctx, o.config(b, 1)) }()
		<-time.After(time.Hour)
		o.breaks(nil, "Register")
		o.until(t, "it asks for tasks", func() bool { return len(o.asked) > 0 })
		o.breaks(code(connect.CodeUnavailable), "Register")
		o.breaks(code(connect.CodeNotFound), "Lease") // it ends while it registers again
		<-time.After(leaseWait + time.Minute)
		end()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// A result that is refused must cost neither its neighbors nor the rest of time.
func TestRefusedResults(t *testing.T) {
	withWorker(t, 3, func(s *shift) {
		s.refuses = func(r *pb.TaskResult) bool { return r.GetId().GetRound() == 2 && r.GetOutput() != nil }
		works := s.begin(1, 3)
		s.breaks(code(connect.CodeUnavailable), "Complete") // so that they gather
		for _, w := range works {
			w.finish <- nil
			synctest.Wait()
		}
		s.breaks(nil, "Complete")
		s.until(t, "all are reported", func() bool { return len(s.results) == 3 })
		s.wantOutput(1)
		s.wantFailure(2, protocol.CodeInternal, pb.FailureClass_FAILURE_CLASS_TASK)
		s.wantOutput(3)
		if r, err := s.reported(2); err != nil || !strings.Contains(r.GetFailure().GetMessage(), "too much of it") {
			t.Errorf("%v %v", r, err)
		}
		s.close(0, nil)
	})
}

func TestPanicIsTheTasksFault(t *testing.T) {
	withWorker(t, 1, func(s *shift) {
		s.begin(1, 1)[0].finish <- errors.New("panic")
		s.begin(2, 1)[0].finish <- nil
		s.close(0, nil)
		s.wantFailure(1, protocol.CodePanic, pb.FailureClass_FAILURE_CLASS_TASK)
		s.wantOutput(2)
	})
}

func TestMoreTasksThanAskedFor(t *testing.T) {
	withWorker(t, 1, func(s *shift) {
		s.leases <- s.leaseOf(t, 1, 3)
		(<-s.begun).finish <- nil
		s.begin(4, 1)[0].finish <- nil
		s.close(0, nil)
		s.wantOutput(4)
	})
}

func TestTaskWithoutItsJob(t *testing.T) {
	withWorker(t, 1, func(s *shift) {
		res := s.leaseOf(t, 1, 1)
		res.Jobs = nil
		s.leases <- res
		s.until(t, "it is reported", func() bool { return len(s.results) == 1 })
		s.wantFailure(1, protocol.CodeInternal, pb.FailureClass_FAILURE_CLASS_TASK)
		s.close(0, nil)
	})
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wait backoff
		for round := range 2 {
			for failures := range 12 {
				ceiling := min(50*time.Millisecond<<failures, 3*time.Second)
				began := time.Now()
				wait.sleep(t.Context())
				if took := time.Since(began); took < ceiling/4 || took > ceiling {
					t.Errorf("round %d, failure %d: waited %v, want between %v and %v", round, failures, took,
						ceiling/4, ceiling)
				}
			}
			wait.reset()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		began := time.Now()
		if wait.sleep(ctx); time.Since(began) > time.Nanosecond {
			t.Error("waited longer than its context")
		}
	})
}

// A task may be lost and leased again before its first run has ended.
func TestReleaseSparesALaterLease(t *testing.T) {
	w := &worker{held: make(map[string]*heldTask)}
	first := &pb.Task{Id: task("a", 1).GetId(), Token: &pb.LeaseToken{Term: 1, Sequence: 1}}
	second := &pb.Task{Id: first.GetId(), Token: &pb.LeaseToken{Term: 1, Sequence: 2}}
	w.hold(first, nil)
	w.hold(second, nil)
	if w.release(first.GetId(), first.GetToken()); len(w.holding()) != 1 {
		t.Error("the end of the first run released the second lease")
	}
	if w.release(second.GetId(), second.GetToken()); len(w.holding()) != 0 {
		t.Error("the lease is still held")
	}
}
