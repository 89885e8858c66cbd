package coordinator

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"
)

// skewed is a wall clock that a test sets off.
type skewed struct{ by atomic.Int64 }

func (s *skewed) now() time.Time { return time.Now().Add(time.Duration(s.by.Load())) }

func (s *skewed) set(by time.Duration) { s.by.Store(int64(by)) }

// pageAs asks for one of a member's pages with a token.
func pageAs(c *Coordinator, path string, token gate.Token) (int, string) {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// A clock that goes back by two days: an expired token stays expired, no tick fires and nothing is swept, until a
// person accepts the clock. Then the log's time is set back, and the next minute's tick fires.
func TestAClockGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off skewed
		cfg := testConfig("")
		cfg.wallClock = off.now
		c := startTest(t, cfg)
		token := gate.NewToken()
		create := &pb.CreateTokenRequest{Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: "read", TtlMs: 2000}
		if _, err := c.services.Tokens.CreateToken(t.Context(), connect.NewRequest(create)); err != nil {
			t.Fatal(err)
		}
		if code, _ := pageAs(c, gate.MetricsPage, token); code != http.StatusOK {
			t.Fatalf("the new token: %d", code)
		}
		createTest(t, c, definition("n"))
		<-time.After(70 * time.Second)
		off.set(-48 * time.Hour)
		if code, _ := pageAs(c, gate.MetricsPage, token); code != http.StatusUnauthorized {
			t.Errorf("the clock went back, and the expired token is accepted: %d", code)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		view, _ := c.fsm.View()
		if got := len(ticksOf(view, "n")); got != 1 {
			t.Errorf("%d ticks fired, want the one before the jump", got)
		}
		_, err := c.services.Upkeep.Sweep(t.Context(), connect.NewRequest(&pb.SweepRequest{}))
		if connect.CodeOf(outcome.Wire(err)) != connect.CodeFailedPrecondition {
			t.Errorf("a sweep: %v", err)
		}
		status, err := c.services.Clusters.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
		if got := status.Msg.GetClock(); err != nil || got.GetTrusted() ||
			!strings.Contains(got.GetReason(), "48h0m0s behind") {
			t.Errorf("status: %v, %v", got, err)
		}
		if code, text := pageAs(c, gate.ReadyPage, token); code != http.StatusOK ||
			!strings.Contains(text, "clock is not trusted") {
			t.Errorf("readiness: %d %s", code, text)
		}
		for i, want := range []bool{true, false} {
			res, err := c.services.Clusters.AcceptClock(t.Context(), connect.NewRequest(&pb.AcceptClockRequest{}))
			if err != nil || res.Msg.GetAccepted() != want || (res.Msg.GetSetBackMs() > 47*3600*1000) != want {
				t.Errorf("accept %d: %v, %v", i, res, err)
			}
		}
		<-time.After(61 * time.Second)
		synctest.Wait()
		view, _ = c.fsm.View()
		if got := len(ticksOf(view, "n")); got != 2 || view.Now > off.now().UnixMilli() {
			t.Errorf("%d ticks fired, want 2; the log's time is %s", got, time.UnixMilli(view.Now).UTC())
		}
		stopTest(t, c)
	})
}

// A clock that is ahead by a month at a start, and no other clock: what has ended is not retired by that step.
func TestAStepRetiresNothing(t *testing.T) {
	var off skewed
	cfg := testConfig(t.TempDir())
	cfg.wallClock, cfg.KeepJobs = off.now, 30*24*time.Hour
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"})); err != nil {
		t.Fatal(err)
	}
	stopTest(t, c)
	off.set(31 * 24 * time.Hour)
	c = startTest(t, cfg)
	submitTest(t, c, "b") // the log's time is ahead now
	sweep := func() []string {
		t.Helper()
		res, err := c.services.Upkeep.Sweep(t.Context(), connect.NewRequest(&pb.SweepRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetRetired()
	}
	if gone := sweep(); len(gone) != 0 {
		t.Errorf("a step of the clock retired %v", gone)
	}
	c.clock.Accept()
	if gone := sweep(); len(gone) != 1 {
		t.Errorf("accepted, the clock retired %v, want a", gone)
	}
}

// A member whose clock is a month ahead is given the lead. Its first look at the others tells it: the log's time
// stays, no job is retired, it is not ready, and it hands the lead over.
func TestAWrongClockThatIsElected(t *testing.T) {
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	off := map[string]*skewed{"c1": {}, "c2": {}, "c3": {}}
	for _, id := range []string{"c1", "c2", "c3"} {
		cfg := q.config(id, t.TempDir())
		cfg.wallClock, cfg.KeepJobs = off[id].now, 30*24*time.Hour
		if id == "c3" { // from its start
			off[id].set(31 * 24 * time.Hour)
		}
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(3)
	leader, wrong := q.leader(), q.members["c3"]
	if leader == wrong {
		t.Fatal("c3 leads")
	}
	submitTest(t, leader, "a")
	if _, err := leader.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"})); err != nil {
		t.Fatal(err)
	}
	q.poll("the follower to be told the time", func() bool { return wrong.clock.Verdict().Doubt == clock.Disagrees })
	if err := (health{wrong}).NotReady(); err == nil || !strings.Contains(err.Error(), "744h0m0") {
		t.Errorf("c3 is ready: %v", err)
	}
	if now := wrong.clock.Wall(); time.Since(now).Abs() > clock.MaxSkew {
		t.Errorf("c3 takes %s for the time", now)
	}
	term := leader.member.Raft.CurrentTerm()
	transfer := leader.member.Raft.LeadershipTransferToServer(raft.ServerID("c3"), wrong.member.Address)
	if err := transfer.Error(); err != nil {
		t.Fatal(err)
	}
	q.poll("c3 to lead and hand the lead over", func() bool {
		if wrong.leads.MayTime() == nil {
			t.Error("c3 leads, and trusts its clock")
		}
		_, id := leader.member.Raft.LeaderWithID()
		return id != "" && id != "c3" && leader.member.Raft.CurrentTerm() > term+1 // c3's, and the next
	})
	var good *Coordinator
	q.poll("a right leader to accept a job", func() bool {
		good = q.leader()
		_, err := good.services.Jobs.Submit(t.Context(),
			connect.NewRequest(&pb.SubmitRequest{Id: "b", SpecJson: testSpec("b")}))
		return err == nil && good != wrong
	})
	view, _ := good.fsm.View()
	if _, kept := view.Job("a"); !kept || time.Until(time.UnixMilli(view.Now).UTC()) > clock.MaxSkew {
		t.Errorf("job a is kept: %t; the log's time is %s", kept, time.UnixMilli(view.Now).UTC())
	}
	off["c3"].set(0)
	q.poll("c3 to be ready", func() bool { return health{wrong}.NotReady() == nil })
}

// The log's time is a month ahead, as an earlier release leaves it, and a schedule's last tick with it. A leader
// whose clock others confirm sets it back.
func TestALogThatIsAhead(t *testing.T) {
	q := startQuorum(t, 2)
	leader := q.leader()
	createTest(t, leader, definition("n"))
	ahead := &pb.Command{NowUnixMs: time.Now().Add(31 * 24 * time.Hour).UnixMilli(),
		Body: &pb.Command_Checkpoint{Checkpoint: &pb.Checkpoint{}}}
	entry, err := proto.Marshal(ahead)
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.member.Raft.Apply(entry, time.Second).Error(); err != nil {
		t.Fatal(err)
	}
	q.poll("the log's time to be set back", func() bool {
		view, _ := q.follower().fsm.View()
		return time.Until(time.UnixMilli(view.Now).UTC()) < clock.MaxSkew
	})
}

// The boot clock goes on.
func TestSinceBoot(t *testing.T) {
	before := sinceBoot()
	for sinceBoot() == before { // its resolution is finite
	}
	if sinceBoot() < before {
		t.Error("the boot clock went back")
	}
}

// Two members whose clocks are an hour apart: nobody knows which is right, so neither decides, until a person accepts
// the leader's. Then the other one knows that its own is wrong.
func TestTwoMembersDisagree(t *testing.T) {
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	for _, id := range []string{"c1", "c2"} {
		var off skewed
		cfg := q.config(id, t.TempDir())
		if cfg.wallClock = off.now; id == "c2" {
			off.set(time.Hour)
		}
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(2)
	q.poll("a leader that doubts its clock, and nobody to take the lead", func() bool {
		c := q.leader()
		return c.leads.Leads() && c.leads.MayTime() != nil && !slices.ContainsFunc(q.list(), func(m *pb.Member) bool {
			return !m.GetLeader() && m.GetClock().GetTrusted()
		})
	})
	q.poll("the leader's clock to be accepted", func() bool {
		res, err := q.leader().services.Clusters.AcceptClock(t.Context(), connect.NewRequest(&pb.AcceptClockRequest{}))
		return err == nil && res.Msg.GetAccepted()
	})
	q.poll("the leader to decide, and the other to doubt its clock", func() bool {
		return q.leader().leads.MayTime() == nil && q.follower().clock.Verdict().Doubt == clock.Disagrees
	})
}
