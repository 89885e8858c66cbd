package coordinator

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A wall clock that is set forward ends no lease, and one that is set back lets none live on.
func TestLeasesKeepToTheMonotonicClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew atomic.Int64
		cfg := testConfig("")
		cfg.wallClock = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
		c := startTest(t, cfg)
		submitTest(t, c, "a")
		await(t, c, "a is planning", inStage("a", pb.JobState_JOB_STATE_PLANNING))
		registerTest(t, c, "w", 1)
		registerTest(t, c, "v", 1)
		plan := leaseTest(t, c, "w", 1).GetTasks()[0]

		skew.Store(int64(time.Hour))
		held := []*pb.HeldTask{{Id: plan.GetId(), Token: plan.GetToken()}}
		beat, err := c.services.Workers.Heartbeat(t.Context(),
			connect.NewRequest(&pb.HeartbeatRequest{WorkerId: "w", Held: held}))
		if err != nil || len(beat.Msg.GetLost()) > 0 {
			t.Errorf("the clock was set forward: the lease is lost: %v %v", beat, err)
		}

		skew.Store(-int64(time.Hour))
		<-time.After(c.cfg.Schedule.LeaseTTL + time.Second)
		res, err := c.services.Workers.Lease(t.Context(),
			connect.NewRequest(&pb.LeaseRequest{WorkerId: "v", MaxTasks: 1}))
		if err != nil || len(res.Msg.GetTasks()) != 1 {
			t.Errorf("the clock was set back: the lease of a worker that is gone holds on: %v %v", res, err)
		}
		stopTest(t, c)
	})
}
