package clustertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Member is a coordinator process of a Quorum.
type Member struct {
	ID, Addr, Raft, Data string
	*Process
	Skew    string                         // the file that sets its clock off, in a StartSkewed quorum
	Jobs    gramv1connect.JobServiceClient // over this member's own port
	Cluster gramv1connect.ClusterServiceClient
}

func (m *Member) place() cluster.Member {
	return cluster.Member{ID: m.ID, API: m.Addr, Raft: m.Raft, Data: m.Data}
}

// Quorum is a cluster of several coordinators. Workers and the CLI are given the addresses
// of all; Jobs and Status are those of the first member.
type Quorum struct {
	*Cluster
	Members []*Member
	flags   []string // of every member
	program string   // of every member
}

// StartSkewed is StartQuorum with a binary that package faults can disturb: Skew moves a member's wall clock.
func StartSkewed(t testing.TB, members int, leaseTTL time.Duration, flags ...string) *Quorum {
	t.Helper()
	return startQuorum(t, FaultyBinary(t), members, leaseTTL, flags...)
}

// SetSkew lets a member's wall clock be off from now on.
func (m *Member) SetSkew(t testing.TB, by time.Duration) {
	t.Helper()
	if err := os.WriteFile(m.Skew+".new", []byte(by.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.Skew+".new", m.Skew); err != nil {
		t.Fatal(err)
	}
}

// StartQuorum starts c1, which makes the authority, and lets c2 and so on join it. It returns
// when every one has a vote. Every member is given the flags.
func StartQuorum(t testing.TB, members int, leaseTTL time.Duration, flags ...string) *Quorum {
	t.Helper()
	return startQuorum(t, Binary(t), members, leaseTTL, flags...)
}

func startQuorum(t testing.TB, program string, members int, leaseTTL time.Duration, flags ...string) *Quorum {
	t.Helper()
	home := t.TempDir()
	q := &Quorum{program: program, Cluster: &Cluster{Home: home, store: "file://" + filepath.Join(home, "store"),
		leaseTTL: leaseTTL}, flags: flags}
	var all []string
	for i := range members {
		m := &Member{ID: fmt.Sprint("c", i+1), Addr: FreeAddress(t), Raft: FreeAddress(t), Data: q.data()}
		m.Skew = filepath.Join(home, "skew-"+m.ID)
		if i > 0 {
			m.Data = filepath.Join(home, "data-"+m.ID)
		}
		q.Members, all = append(q.Members, m), append(all, m.Addr)
	}
	q.Addr = q.Members[0].Addr
	for i, m := range q.Members {
		if i > 0 {
			q.Issue(t, m)
		}
		q.Start(t, m)
		q.AwaitListening(t, m)
		if i == 0 {
			q.connect(t)
		}
		m.Jobs = gramv1connect.NewJobServiceClient(q.client, "https://"+m.Addr, q.token)
		m.Cluster = gramv1connect.NewClusterServiceClient(q.client, "https://"+m.Addr, q.token)
	}
	q.Addr = strings.Join(all, ",")
	q.AwaitVotes(t, members)
	return q
}

// Token is the first admin token.
func (q *Quorum) Token(t testing.TB) gate.Token {
	t.Helper()
	text, err := os.ReadFile(q.first().AdminToken())
	if err != nil {
		t.Fatal(err)
	}
	token, err := gate.ParseToken(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Issue gives a member that is to join its certificate.
func (q *Quorum) Issue(t testing.TB, m *Member) {
	t.Helper()
	_, stderr, code := Run(t.Context(), t, q.Home, nil, nil, q.first().Issue(m.place(), "localhost")...)
	if code != 0 {
		t.Fatalf("pki issue: exit code %d\n%s", code, stderr)
	}
}

// Start starts, or starts again, a member; its flags are always the same.
func (q *Quorum) Start(t testing.TB, m *Member) {
	t.Helper()
	flags := []string{"--lease-ttl", q.leaseTTL.String(), "--promote-after", "500ms"}
	if first := q.Members[0]; m != first {
		flags = append(flags, q.first().Join(first.Addr)...)
	}
	env := append(q.Env[:len(q.Env):len(q.Env)], "GRAM_CLOCK_SKEW_FILE="+m.Skew)
	m.Process = StartProgram(t, q.program, q.Home, env, m.place().Arguments(q.store, append(flags, q.flags...)...)...)
}

// Alone starts a coordinator that is no member, over the same store, with further flags.
func (q *Quorum) Alone(t testing.TB, flags ...string) *Member {
	t.Helper()
	m := &Member{ID: "alone", Addr: FreeAddress(t), Raft: FreeAddress(t), Data: filepath.Join(q.Home, "data-alone")}
	place := m.place()
	place.ID = "" // it is no member of this cluster
	m.Process = Start(t, q.Home, q.Env, place.Arguments(q.store, flags...)...)
	q.AwaitListening(t, m)
	return m
}

// AwaitListening waits until a member serves: it leads, or follows and is up to date.
func (q *Quorum) AwaitListening(t testing.TB, m *Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, m.ID+" to serve", func() bool {
		if m.Ended() {
			t.Fatalf("%s ended:\n%s", m.ID, m.Output())
		}
		if !strings.Contains(m.Output(), "gram: coordinator on ") {
			return false
		}
		return process.Answers(m.Addr)
	})
}

// List asks every member in turn who belongs to the cluster; nil when none knows now.
func (q *Quorum) List(t testing.TB) []*pb.Member {
	var running []gramv1connect.ClusterServiceClient
	for _, m := range q.Members {
		if m.Cluster != nil && !m.Ended() {
			running = append(running, m.Cluster)
		}
	}
	return cluster.List(t.Context(), running...)
}

// AwaitVotes waits until that number of members have a vote and are healthy.
func (q *Quorum) AwaitVotes(t testing.TB, members int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := cluster.AwaitVotes(ctx, members, func(context.Context) []*pb.Member { return q.List(t) }); err != nil {
		t.Fatal(err)
	}
}

// Write submits a job until somebody accepts it; repeated, it is the same job.
func (q *Quorum) Write(t testing.TB, id, specJSON string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	Poll(ctx, t, "job "+id+" to be accepted", func() bool {
		_, err := q.Jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: specJSON}))
		if err != nil {
			t.Logf("submit %s: %v", id, err)
		}
		return err == nil
	})
}

// Leader waits for there to be a leader.
func (q *Quorum) Leader(t testing.TB) *Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var leader *Member
	Poll(ctx, t, "a leader", func() bool {
		id := cluster.Leader(q.List(t))
		for _, m := range q.Members {
			if m.ID == id {
				leader = m
			}
		}
		return leader != nil
	})
	return leader
}

// Follower is a member that does not lead.
func (q *Quorum) Follower(t testing.TB) *Member {
	t.Helper()
	leader := q.Leader(t)
	for _, m := range q.Members {
		if m != leader && !m.Ended() {
			return m
		}
	}
	t.Fatal("no follower")
	return nil
}
