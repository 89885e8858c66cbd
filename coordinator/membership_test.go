package coordinator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A follower takes a job in and tells of it; the leader has it. Stopped, the leader hands
// over, and both go on with what they have.
func TestFollowersAnswer(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	leader, follower := q.leader(), q.follower()
	jobs, _ := q.calls(follower)
	if _, err := jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: "a", SpecJson: testSpec("a")})); err != nil {
		t.Fatal(err)
	}
	if job := getTest(t, leader, "a"); job.GetId() != "a" {
		t.Errorf("the leader has %v", job)
	}
	watch, err := jobs.Watch(t.Context(), connect.NewRequest(&pb.WatchRequest{Id: "a"}))
	if err != nil || !watch.Receive() || watch.Msg().GetJob().GetId() != "a" {
		t.Fatalf("watch by a follower: %v, %v", err, watch.Err())
	}
	q.stop(leader.cfg.NodeID)
	for watch.Receive() { // until the leader goes
	}
	if code := connect.CodeOf(watch.Err()); code == connect.CodeUnauthenticated || watch.Close() != nil {
		t.Errorf("the stream ended with %v", watch.Err())
	}
	for id, c := range q.members {
		jobs, _ := q.calls(c)
		if res, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "a"})); err != nil ||
			res.Msg.GetJob().GetId() != "a" {
			t.Errorf("%s without the old leader: %v", id, err)
		}
	}
	q.poll("equal states", func() bool {
		digests := make(map[[32]byte]bool)
		for _, c := range q.members {
			view, _ := c.fsm.View()
			digests[view.Digest()] = true
		}
		return len(digests) == 1
	})
}

// A call that a follower cannot hand on is answered, not kept.
func TestFollowerWithoutALeader(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 2)
	follower := q.follower()
	jobs, _ := q.calls(follower)
	q.stop(q.leader().cfg.NodeID)
	q.poll("the answer that there is no leader", func() bool { // the lead was handed to it, and is lost in a moment
		_, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "a"}))
		if connect.CodeOf(err) != connect.CodeUnavailable {
			t.Fatalf("without a quorum: %v", err)
		}
		return standsStill(err)
	})
}

func standsStill(err error) bool {
	var refused *connect.Error
	return errors.As(err, &refused) && refused.Code() == connect.CodeUnavailable &&
		refused.Meta().Get(listen.ReasonHeader) == listen.ReasonNoLeader &&
		strings.Contains(err.Error(), "of the 2 members with a vote 2 must run")
}

// A voter that lost its disk does not come back under its id, neither by joining nor by
// beginning anew; under another id it does.
func TestWipedMember(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	id := q.follower().cfg.NodeID
	address := q.members[id].RaftAddr()
	q.stop(id)
	if _, err := q.start(id, t.TempDir()); !errors.Is(err, ErrJoin) ||
		!strings.Contains(err.Error(), "comes back under another id") {
		t.Fatalf("joined with an empty log: %v", err)
	}
	alone := q.config(id, t.TempDir())
	alone.Join, alone.RaftAddr = nil, address
	stranger, err := Start(t.Context(), alone) // a cluster of its own, where the others look for their member
	if err != nil {
		t.Fatal(err)
	}
	defer stopTest(t, stranger)
	q.poll("the leader to find the member unhealthy", func() bool {
		for _, m := range q.list() {
			if m.GetId() == id {
				return m.GetBehind() > 0 || !m.GetHealthy()
			}
		}
		return false
	})
	q.submit("a")
	if view, _ := stranger.fsm.View(); view.ClusterID == q.leader().clusterID() || view.JobCount() != 0 {
		t.Error("the wiped member is in the old cluster again")
	}
	stopTest(t, stranger)
	if _, err := q.start("c9", t.TempDir()); err != nil {
		t.Fatal(err)
	}
	_, cluster := q.calls(q.follower())
	if _, err := cluster.Remove(t.Context(), connect.NewRequest(&pb.RemoveRequest{Id: id})); err != nil {
		t.Fatal(err)
	}
	q.awaitVotes(3)
}

// A member that was removed ends, and does not start again on its log.
func TestRemovedMember(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	removed := q.follower()
	_, cluster := q.calls(q.leader())
	if _, err := cluster.Remove(t.Context(),
		connect.NewRequest(&pb.RemoveRequest{Id: q.leader().cfg.NodeID})); connect.CodeOf(
		err) != connect.CodeFailedPrecondition {
		t.Errorf("the leader: %v", err)
	}
	if _, err := cluster.Remove(t.Context(),
		connect.NewRequest(&pb.RemoveRequest{Id: removed.cfg.NodeID})); err != nil {
		t.Fatal(err)
	}
	if err := <-removed.Failed(); !errors.Is(err, node.ErrRemoved) {
		t.Errorf("the removed member: %v", err)
	}
	delete(q.members, removed.cfg.NodeID)
	stopTest(t, removed)
	for id, c := range q.members { // asked again, of any member: it is out
		_, cluster := q.calls(c)
		if _, err := cluster.Remove(t.Context(),
			connect.NewRequest(&pb.RemoveRequest{Id: removed.cfg.NodeID})); err != nil {
			t.Errorf("removed again through %s: %v", id, err)
		}
		if _, err := cluster.Remove(t.Context(),
			connect.NewRequest(&pb.RemoveRequest{Id: "c9"})); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("one that never was, through %s: %v", id, err)
		}
	}
	if _, err := q.start(removed.cfg.NodeID, t.TempDir()); !errors.Is(err, ErrJoin) ||
		!strings.Contains(err.Error(), "choose another") {
		t.Errorf("joined under a removed id: %v", err)
	}
	if n := len(q.list()); n != 2 {
		t.Errorf("%d members", n)
	}
	// Its log says so, or, if the last entries did not reach it, the leader.
	if _, err := q.startWith(removed.cfg); !errors.Is(err, node.ErrDataDir) && !errors.Is(err, node.ErrRemoved) {
		t.Errorf("started again: %v", err)
	}
}

// A member that was removed while it was away ends when it comes back.
func TestMemberRemovedWhileAway(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	away := q.follower()
	cfg := away.cfg
	cfg.RaftAddr, cfg.Join = away.RaftAddr(), nil
	q.stop(cfg.NodeID)
	_, cluster := q.calls(q.leader())
	if _, err := cluster.Remove(t.Context(), connect.NewRequest(&pb.RemoveRequest{Id: cfg.NodeID})); err != nil {
		t.Fatal(err)
	}
	// What a member is told that asks because it has no leader, whether or not its log says so.
	err := node.NewPeers(q.follower().member.Port).Move(t.Context(), q.leader().RaftAddr(), cfg.NodeID, cfg.RaftAddr,
		q.leader().clusterID())
	if connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.HasSuffix(err.Error(),
		"was removed from this cluster") {
		t.Errorf("a removed member that asks: %v", err)
	}
	back, err := q.startWith(cfg)
	if err == nil { // told later than it started
		err = <-back.Failed()
	}
	t.Log(err) // by its log or by the leader, whichever comes first
	if !errors.Is(err, node.ErrRemoved) {
		t.Errorf("the member that came back: %v", err)
	}
}

// All stop and start again, on other ports of the API: every member finds its way.
func TestRestartOfAll(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	q.submit("a")
	configs := make(map[string]Config)
	for id, c := range q.members {
		configs[id] = c.cfg
		cfg := c.cfg
		cfg.RaftAddr, cfg.Join = c.RaftAddr(), nil
		configs[id] = cfg
		q.stop(id)
	}
	started := make(chan error)
	result := make(chan *Coordinator, len(configs))
	for _, cfg := range configs {
		go func() {
			c, err := Start(t.Context(), cfg)
			result <- c
			started <- err
		}()
	}
	for range configs {
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		c := <-result
		q.members[c.cfg.NodeID] = c
		t.Cleanup(func() { stopTest(t, c) })
	}
	for _, c := range q.members {
		jobs, _ := q.calls(c)
		if _, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "a"})); err != nil {
			t.Errorf("%s: %v", c.cfg.NodeID, err)
		}
		_, err := os.Stat(filepath.Join(c.cfg.DataDir, AdminTokenFile))
		if made := err == nil; made != (c.cfg.NodeID == "c1") {
			t.Errorf("%s has an admin's token: %v", c.cfg.NodeID, made)
		}
	}
}

// A member that nobody named draws an id, and keeps it.
func TestUnnamedMember(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 1)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		change func(*Config)
		want   error
		says   string
	}{
		"no authority":   {func(cfg *Config) { cfg.DataDir = t.TempDir() }, node.ErrDataDir, "gram pki issue"},
		"another store":  {func(cfg *Config) { cfg.StoreURI = "mem://other" }, ErrJoin, "the same --store"},
		"no token":       {func(cfg *Config) { cfg.JoinToken = gate.Token{} }, ErrJoin, "no valid token"},
		"worker's token": {func(cfg *Config) { cfg.JoinToken = q.members["c1"].WorkerToken() }, ErrJoin, "scope"},
		"no address":     {func(cfg *Config) { cfg.AdvertiseAddr = "[::]:7481" }, ErrJoin, "--advertise"},
	} {
		cfg := q.config("", dir)
		c.change(&cfg)
		if _, err := q.startWith(cfg); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	second, err := q.start("", dir)
	if err != nil {
		t.Fatal(err)
	}
	q.awaitVotes(2)
	id, address := second.cfg.NodeID, second.RaftAddr()
	if text, err := os.ReadFile(filepath.Join(dir, node.NodeIDFile)); err != nil ||
		strings.TrimSpace(string(text)) != id || !strings.HasPrefix(id, "c-") {
		t.Errorf("id %q, kept %q, %v", id, text, err)
	}
	stopTest(t, second)
	cfg := q.config("", dir)
	cfg.RaftAddr, cfg.Join = address, nil
	again, err := q.startWith(cfg)
	if err != nil || again.cfg.NodeID != id {
		t.Errorf("started again: %v", err)
	}
}

// A lone coordinator that others cannot reach is started again where they can, and taken at its word.
func TestAddressIsCorrected(t *testing.T) {
	t.Parallel()
	q := &quorum{T: t, authority: filepath.Join(t.TempDir(), "pki"), members: make(map[string]*Coordinator)}
	if err := pki.Init(q.authority, time.Now()); err != nil {
		t.Fatal(err)
	}
	cfg := q.config("c1", t.TempDir())
	cfg.AdvertiseAddr = "0.0.0.0:7481"
	if _, err := q.startWith(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := q.start("c2", t.TempDir()); !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), "--advertise") {
		t.Fatalf("joined a member that is nowhere: %v", err)
	}
	q.stop("c1")
	cfg.AdvertiseAddr = ""
	if _, err := q.startWith(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := q.start("c2", t.TempDir()); err != nil {
		t.Fatal(err)
	}
	q.awaitVotes(2)
}

// A follower that is started at another address tells the leader, who had looked for it at the old one.
func TestFollowerMoves(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	moved := q.follower().cfg
	old := q.members[moved.NodeID].RaftAddr()
	q.stop(moved.NodeID)
	moved.RaftAddr, moved.Join = "127.0.0.1:0", nil
	again, err := q.startWith(moved)
	if err != nil {
		t.Fatal(err)
	}
	q.awaitVotes(3)
	for _, m := range q.list() {
		if m.GetId() == moved.NodeID && (m.GetRaftAddress() != again.RaftAddr() || m.GetRaftAddress() == old) {
			t.Errorf("%s is at %s in the log, not at %s", m.GetId(), m.GetRaftAddress(), again.RaftAddr())
		}
	}
}
