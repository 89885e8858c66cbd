package coordinator

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// datedStore is a store on a machine of its own, whose clock a test sets off.
type datedStore struct {
	objstore.Store
	off    skewed
	silent atomic.Bool
}

// Date implements objstore.Dater.
func (s *datedStore) Date(context.Context) (time.Time, error) {
	if s.silent.Load() {
		return time.Time{}, objstore.ErrUnavailable
	}
	return s.off.now(), nil
}

// loneLeader is a coordinator that has no other clock than its store's, and a schedule for every minute.
type loneLeader struct {
	*testing.T
	*Coordinator
	off   skewed
	store *datedStore
}

// fired counts the ticks that have fired.
func (l *loneLeader) fired() int {
	synctest.Wait()
	view, _ := l.fsm.View()
	return len(ticksOf(view, "n"))
}

// want waits until the store was asked again, and checks whether the clock is trusted and what follows: if not, no tick
// fires for minutes, nothing is swept, and the pages and `cluster status` say why.
func (l *loneLeader) want(what string, trusted bool, others int, why string) {
	l.Helper()
	before := l.fired()
	<-time.After(10*time.Second + time.Second)
	if v := l.clock.Verdict(); v.Trusted() != trusted || v.Others != others || !trusted && v.Doubt != clock.Disagrees {
		l.Errorf("%s: %+v", what, v)
	}
	trust := map[bool]float64{true: 1}
	wantMetrics(l.T, l.Coordinator, map[string]float64{"gram_clock_trusted": trust[trusted]})
	status, err := l.Coordinator.services.Clusters.Status(l.Context(), connect.NewRequest(&pb.StatusRequest{}))
	if got := status.Msg.GetClock(); err != nil || got.GetTrusted() != trusted ||
		!strings.Contains(got.GetReason(), why) {
		l.Errorf("%s: status %v, %v; want %q", what, got, err, why)
	}
	_, page := pageAs(l.Coordinator, "/readyz", l.AdminToken())
	if strings.Contains(page, "clock is not trusted") == trusted {
		l.Errorf("%s: readiness %q", what, page)
	}
	_, err = l.Coordinator.services.Upkeep.Sweep(l.Context(), connect.NewRequest(&pb.SweepRequest{}))
	if (err == nil) != trusted {
		l.Errorf("%s: a sweep: %v", what, err)
	}
	<-time.After(3 * time.Minute)
	if after := l.fired(); (after > before) != trusted {
		l.Errorf("%s: %d ticks had fired, and three minutes later %d", what, before, after)
	}
}

// A leader without other members compares its clock with the store's. More than a minute apart, whichever is off, it
// takes no decision by the time; closer, or after the store has been silent, it does.
func TestTheStoresClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		l := &loneLeader{T: t, store: &datedStore{Store: cfg.Store}}
		cfg.wallClock, cfg.Store = l.off.now, l.store
		l.store.off.set(-59 * time.Second)
		l.Coordinator = startTest(t, cfg)
		createTest(t, l.Coordinator, definition("n"))
		l.want("the store is 59 s behind", true, 1, "")
		l.store.off.set(-61 * time.Second)
		l.want("the store is 61 s behind", false, 1, "1m1s ahead of the other clocks")
		l.store.off.set(0)
		l.want("the store is right again", true, 1, "")
		l.off.set(2 * time.Hour)
		l.want("the leader's own clock is ahead", false, 1, "2h0m0s ahead of the other clocks")
		l.off.set(0)
		l.want("it is right again", true, 1, "")
		l.store.silent.Store(true)
		<-time.After(time.Minute)
		l.want("the store tells no time", true, 0, "")
		stopTest(t, l.Coordinator)
	})
}

// Of two members one cannot tell which clock is right; the store's decides. The leader whose clock jumps hands the lead
// over, the other leads and trusts its own, and the wrong one is not ready until its clock is set right.
func TestTheStoresClockDecides(t *testing.T) {
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	off := map[string]*skewed{"c1": {}, "c2": {}}
	for _, id := range []string{"c1", "c2"} {
		cfg := q.config(id, t.TempDir())
		cfg.wallClock, cfg.Store = off[id].now, &datedStore{Store: cfg.Store}
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(2)
	wrong := q.leader()
	right := q.follower()
	off[wrong.cfg.NodeID].set(time.Hour)
	q.poll("the other member to lead and decide by the time", func() bool {
		return right.leads.MayTime() == nil && right.clock.Verdict().Others == 2
	})
	q.poll("the wrong one to follow and know it", func() bool {
		return wrong.member.Raft.State() == raft.Follower && wrong.clock.Verdict().Doubt == clock.Disagrees &&
			health{wrong}.NotReady() != nil
	})
	wantMetrics(t, wrong, map[string]float64{"gram_clock_trusted": 0, "gram_ready": 0})
	wantMetrics(t, right, map[string]float64{"gram_clock_trusted": 1, "gram_ready": 1})
	off[wrong.cfg.NodeID].set(0)
	q.poll("the wrong one to be ready again", func() bool { return health{wrong}.NotReady() == nil })
	wantMetrics(t, wrong, map[string]float64{"gram_clock_trusted": 1})
}
