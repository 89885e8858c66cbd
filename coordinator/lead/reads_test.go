package lead

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/meters"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
)

// A member that believes it leads, though raft does not confirm it, answers no read: one that joined has no cluster yet
// to lead. One that is alone does.
func TestReadsAreConfirmed(t *testing.T) {
	for _, joined := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) { confirmReads(t, joined) })
	}
}

func confirmReads(t *testing.T, joined bool) {
	tasks, fsm, began := life.New(), node.NewFSM(), time.Now()
	cfg := node.Config{NodeID: "c1", RaftTimeout: node.MemoryTimeout, Logger: slog.New(slog.DiscardHandler)}
	member := node.New(tasks)
	stores, err := member.OpenStores(cfg, func(err error) { t.Error(err) })
	if err == nil {
		noCluster := func() string { return "" }
		err = errors.Join(member.OpenTransport(cfg, nil, noCluster), member.Start(cfg, stores, fsm, joined))
	}
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{
		Member: member, FSM: fsm, Tasks: tasks, Meters: meters.New(), NodeID: "c1", ApplyTimeout: 10 * time.Second,
		Clock:  NewClock(time.Now, func() time.Duration { return time.Since(began) }, fsm, nil),
		Logger: cfg.Logger,
	})
	c.lead = &Leadership{}
	<-time.After(time.Second)
	switch _, _, err := c.Read(t.Context()); {
	case joined && !errors.Is(err, outcome.ErrNotLeader):
		t.Errorf("read without a leadership that raft confirms: %v", err)
	case !joined && err != nil:
		t.Errorf("read with one: %v", err)
	}
	tasks.Wait()
	if err := member.Close(); err != nil {
		t.Error(err)
	}
}
