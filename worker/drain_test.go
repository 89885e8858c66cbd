package worker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// longest is how long a worker with these settings may take to end: the time to
// drain, and what reports and log lines may take after it. Kubernetes grants 30 s.
const longest = 25*time.Second + farewell + flushLimit

func TestIdleWorkerEndsAtOnce(t *testing.T) {
	withWorker(t, 2, func(s *shift) {
		s.until(t, "it asks for tasks", func() bool { return len(s.asked) > 0 })
		s.close(0, nil)
	})
}

func TestDrainFinishesWhatItCan(t *testing.T) {
	withWorker(t, 3, func(s *shift) {
		works := s.begin(1, 3)
		go func() {
			<-time.After(10 * time.Second)
			works[0].finish <- nil
			works[1].finish <- errors.New("broke")
			<-time.After(10 * time.Second)
			works[2].finish <- nil
		}()
		s.close(20*time.Second, nil)
		s.wantOutput(1)
		s.wantFailure(2, protocol.CodeInternal, pb.FailureClass_FAILURE_CLASS_TASK)
		s.wantOutput(3)
		if len(s.leases) != 0 || s.asked[len(s.asked)-1] == 0 {
			t.Errorf("asked for %v", s.asked)
		}
	})
}

func TestDrainGivesBackWhatItCannotFinish(t *testing.T) {
	withWorker(t, 2, func(s *shift) {
		works := s.begin(1, 2)
		works[0].finish <- nil
		s.close(25*time.Second, ErrDrainTimeout)
		s.wantOutput(1)
		s.wantFailure(2, protocol.CodeDrained, pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE)
	})
}

// Whatever the coordinator does, a worker that is told to end does.
func TestDrainEndsWithoutTheCoordinator(t *testing.T) {
	for name, failure := range map[string]error{"unreachable": code(connect.CodeUnavailable), "hangs": errHang,
		"fails": code(connect.CodeInternal)} {
		t.Run(name+", task done", func(t *testing.T) {
			withWorker(t, 1, func(s *shift) {
				works := s.begin(1, 1)
				s.breaks(failure, allMethods...)
				works[0].finish <- nil
				s.close(longest, nil)
			})
		})
		t.Run(name+", task at work", func(t *testing.T) {
			withWorker(t, 1, func(s *shift) {
				works := s.begin(1, 1)
				s.breaks(failure, allMethods...)
				s.close(2*testTTL, nil) // its lease is lost before the time to drain is over
				if works[0].ctx.Err() == nil {
					t.Error("the task goes on")
				}
			})
		})
	}
}

// Results that nobody takes fill the way out; tasks that wait there must not keep the worker.
func TestDrainWithResultsThatNobodyTakes(t *testing.T) {
	withWorker(t, 1, func(s *shift) {
		s.breaks(code(connect.CodeInternal), "Complete")
		for round := 1; round <= 3; round++ { // one at the reporter, one in the channel, one that waits
			s.begin(round, 1)[0].finish <- nil
			synctest.Wait()
		}
		s.close(longest, ErrDrainTimeout)
	})
}

// A store that hangs keeps log lines, not the worker.
func TestDrainWithAStoreThatHangs(t *testing.T) {
	withWorker(t, 1, func(s *shift) {
		works := s.begin(1, 1)
		s.office.store.(*stuckStore).stick()
		works[0].finish <- errors.New("broke") // its log is flushed at once
		s.close(longest, nil)
		s.wantFailure(1, protocol.CodeInternal, pb.FailureClass_FAILURE_CLASS_TASK)
	})
}
