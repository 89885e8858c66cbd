package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"
)

// decisions counts, from a member's log, the accepted entries that fired a tick.
type decisions struct {
	*node.FSM
	guard   sync.Mutex
	fired   map[string]map[int64]int
	entries [][]byte
}

func (d *decisions) Apply(entry *raft.Log) any {
	answer := d.FSM.Apply(entry)
	var cmd pb.Command
	if err := proto.Unmarshal(entry.Data, &cmd); err != nil {
		return err
	}
	d.guard.Lock()
	defer d.guard.Unlock()
	if fire := cmd.GetFireTick(); fire.GetJob() != nil && answer.(state.Reply).Err == nil {
		if d.fired[fire.GetScheduleId()] == nil {
			d.fired[fire.GetScheduleId()] = make(map[int64]int)
		}
		d.fired[fire.GetScheduleId()][fire.GetTickUnixMs()]++
		d.entries = append(d.entries, entry.Data)
	}
	return answer
}

// trio is three coordinators over raft in one process; their wall clocks differ.
type trio struct {
	*testing.T
	members    []*Coordinator
	logs       []*decisions
	addresses  []raft.ServerAddress
	transports []*raft.InmemTransport
	leader     int
	changes    int
}

func startTrio(t *testing.T) *trio {
	t.Helper()
	c := &trio{T: t, leader: -1}
	tokens, err := loadTokens("", true)
	if err != nil {
		t.Fatal(err)
	}
	var servers []raft.Server
	for i := range 3 {
		address, transport := raft.NewInmemTransportWithTimeout("", 500*time.Millisecond)
		c.addresses, c.transports = append(c.addresses, address), append(c.transports, transport)
		servers = append(servers, raft.Server{ID: raft.ServerID(fmt.Sprint("c", i)), Address: address})
	}
	for i := range 3 {
		c.join(i)
		cfg := testConfig("")
		cfg.wallClock = func() time.Time { return time.Now().Add(time.Duration(i-1) * 2 * time.Second) }
		if cfg, err = cfg.withDefaults(); err != nil {
			t.Fatal(err)
		}
		m := unstarted(cfg)
		m.tokens = tokens
		c.members, c.logs = append(c.members, m), append(c.logs,
			&decisions{FSM: m.fsm, fired: make(map[string]map[int64]int)})
		c.start(i, servers)
	}
	return c
}

func (c *trio) start(i int, servers []raft.Server) {
	conf := raft.DefaultConfig()
	conf.LocalID, conf.Logger = servers[i].ID, hclog.NewNullLogger()
	conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = 3*time.Second, 3*time.Second, 2*time.Second
	conf.SnapshotInterval, conf.SnapshotThreshold, conf.TrailingLogs = 10*time.Minute, 2000, 500
	store := raft.NewInmemStore()
	host, err := raft.NewRaft(conf, c.logs[i], store, store, raft.NewInmemSnapshotStore(), c.transports[i])
	if err == nil && i == 0 {
		err = host.BootstrapCluster(raft.Configuration{Servers: servers}).Error()
	}
	if err != nil {
		c.Fatal(err)
	}
	m := c.members[i]
	m.member = &node.Member{Raft: host}
	m.prepareToLead()
	life, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
	m.cancel = cancel
	m.tasks.Go(func() { m.leads.Follow(life, nil) })
	c.Cleanup(func() { stopTest(c.T, m) })
}

// join connects a member to the others.
func (c *trio) join(i int) {
	for j := range c.transports {
		c.transports[i].Connect(c.addresses[j], c.transports[j])
		c.transports[j].Connect(c.addresses[i], c.transports[i])
	}
}

// cut takes a member off the network, which it does not notice at once.
func (c *trio) cut(i int) {
	for j := range c.transports {
		c.transports[i].Disconnect(c.addresses[j])
		c.transports[j].Disconnect(c.addresses[i])
	}
}

// lead waits for somebody to lead.
func (c *trio) lead() *Coordinator {
	c.Helper()
	for range 600 {
		for i, m := range c.members {
			if m.leads.Leads() && m.member.Raft.VerifyLeader().Error() == nil {
				if i != c.leader {
					c.leader, c.changes = i, c.changes+1
				}
				return m
			}
		}
		<-time.After(100 * time.Millisecond)
	}
	c.Fatal("nobody leads for a minute")
	return nil
}

// repeat proposes decisions that were accepted once more, as one does whose answers were lost.
func (c *trio) repeat(rng *rand.Rand) {
	leader := c.lead()
	log := c.logs[c.leader]
	log.guard.Lock()
	entries := log.entries
	log.guard.Unlock()
	for range 20 {
		if len(entries) == 0 {
			return
		}
		future := leader.member.Raft.Apply(entries[rng.IntN(len(entries))], time.Second)
		if err := future.Error(); err == nil && future.Response().(state.Reply).Err == nil {
			c.Fatal("a decision was accepted twice")
		}
	}
}

// 10,000 ticks of 100 schedules through raft, while leaders hand over or are cut off with
// decisions on their way, by clocks that differ, and decisions arrive twice: each tick is fired
// by one entry, on every member, and the members agree to the bit.
func TestEveryTickOnceThroughRaft(t *testing.T) {
	const schedules = 100
	minutes := 100
	if testing.Short() {
		minutes = 10
	}
	synctest.Test(t, func(t *testing.T) {
		c, rng := startTrio(t), rand.New(rand.NewPCG(5, 4))
		c.lead()
		<-time.After(10 * time.Second) // beyond the full minute by every clock
		began := time.Now().Truncate(time.Minute)
		for i := range schedules {
			d := definition(fmt.Sprint("s", i))
			d.Overlap = pb.ScheduleOverlap_SCHEDULE_OVERLAP_REPLACE // else their jobs have no room
			createTest(t, c.lead(), d)
		}
		for time.Since(began) < time.Duration(minutes)*time.Minute {
			<-time.After(time.Duration(rng.IntN(240_000)) * time.Millisecond)
			// Near the full minute, so that decisions are on their way.
			<-time.After(time.Until(time.Now().Truncate(time.Minute).Add(
				time.Minute + time.Duration(rng.IntN(6000)-3000)*time.Millisecond)))
			c.lead()
			if old := c.leader; rng.IntN(2) == 0 {
				if err := c.members[old].member.Raft.LeadershipTransfer().Error(); err != nil &&
					!errors.Is(err, raft.ErrNotLeader) {
					t.Logf("handing over: %v", err)
				}
			} else {
				c.cut(old)
				<-time.After(time.Duration(rng.IntN(90)) * time.Second)
				c.join(old)
			}
			c.repeat(rng)
		}
		<-time.After(2*time.Minute + 30*time.Second)
		c.lead()
		synctest.Wait()
		c.check(began, schedules, minutes)
		for _, m := range c.members {
			stopTest(t, m)
		}
		<-time.After(10 * time.Second) // raft's last call to a member that is gone takes 5 s to fail
	})
}

func (c *trio) check(began time.Time, schedules, minutes int) {
	c.Helper()
	first, _ := c.members[0].fsm.View()
	total := 0
	for i, m := range c.members {
		view, _ := m.fsm.View()
		if view.Digest() != first.Digest() || m.fsm.AppliedIndex() != c.members[0].fsm.AppliedIndex() {
			c.Errorf("member %d differs from member 0: index %d and %d", i, m.fsm.AppliedIndex(),
				c.members[0].fsm.AppliedIndex())
		}
		for n := range schedules {
			sched, _ := view.Schedule(fmt.Sprint("s", n))
			want := int(time.UnixMilli(sched.LastTick).UTC().Sub(began) / time.Minute)
			fired := c.logs[i].fired[sched.ID()]
			if want < minutes || int(sched.Fired) != want || sched.Skipped != 0 || len(fired) != want {
				c.Fatalf("member %d, schedule %d: %d fired, %d skipped, %d in the log; want %d", i, n, sched.Fired,
					sched.Skipped, len(fired), want)
			}
			for tick, times := range fired {
				if times != 1 || time.UnixMilli(tick).UTC().Sub(began)%time.Minute != 0 {
					c.Fatalf("schedule %d: tick %s was fired %d times", n, time.UnixMilli(tick).UTC(), times)
				}
			}
			total += want
		}
	}
	if view, _ := c.members[0].fsm.View(); view.JobCount() != total/len(c.members) {
		c.Errorf("%d jobs of %d ticks", view.JobCount(), total/len(c.members))
	}
	if c.changes < minutes/10 {
		c.Errorf("only %d leaders", c.changes)
	}
	c.Logf("%d ticks, %d leaders, log index %d", total/len(c.members), c.changes, c.members[0].fsm.AppliedIndex())
}
