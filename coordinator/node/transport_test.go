package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/life"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/hashicorp/raft"
)

// raft holds 512 KiB of buffers for each of its connections, half at either end. Those that it used at a time, in an
// election say, must not all stay open after that.
func TestIdleRaftConnectionsAreFew(t *testing.T) {
	identity, err := pki.LoadOrCreate(t.TempDir(), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	from, to := openPort(t, identity), openPort(t, identity)
	const calls = 4
	var calling sync.WaitGroup
	for range calls {
		calling.Go(func() {
			var answer raft.RequestVoteResponse
			if err := from.transport.RequestVote("to", to.Address, &raft.RequestVoteRequest{}, &answer); err != nil {
				t.Error(err)
			}
		})
	}
	var asked []raft.RPC
	for range calls { // all are asked before one is answered, so each has a connection of its own
		select {
		case rpc := <-to.transport.Consumer():
			asked = append(asked, rpc)
		case <-time.After(20 * time.Second):
			t.Fatalf("%d of %d calls came", len(asked), calls)
		}
	}
	if open := to.Port.connections(); open != calls {
		t.Errorf("%d connections while %d calls run", open, calls)
	}
	for _, rpc := range asked {
		rpc.Respond(&raft.RequestVoteResponse{}, nil)
	}
	calling.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for to.Port.connections() > idleConnections {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%d connections stay open", to.Port.connections())
		}
	}
}

// openPort opens the transport of a member that has no log.
// A pipeline of raft 1.8 races with a follower that moves, so the transport offers none.
func TestTransportHasNoPipeline(t *testing.T) {
	identity, err := pki.LoadOrCreate(t.TempDir(), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	from, to := openPort(t, identity), openPort(t, identity)
	if _, err := from.transport.AppendEntriesPipeline("to", to.Address); !errors.Is(
		err, raft.ErrPipelineReplicationNotSupported) {
		t.Errorf("a pipeline: %v", err)
	}
}

func openPort(t *testing.T, identity *pki.Identity) *Member {
	t.Helper()
	m := New(life.New())
	cfg := Config{DataDir: "unused", RaftAddr: "127.0.0.1:0", Limits: bounds.Limits{}.WithDefaults(),
		Logger: slog.New(slog.DiscardHandler)}
	if err := m.OpenTransport(cfg, identity, func() string { return "cluster" }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// connections is how many accepted connections are open.
func (p *Port) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}
