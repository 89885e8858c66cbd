package lead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// confirmations lets reads that begin while a question is on its way share the next one.
type confirmations struct {
	mu   sync.Mutex
	next *confirmation // not asked yet
	busy bool          // one is being asked
}

type confirmation struct {
	done chan struct{} // closed when err is known
	err  error
}

// Confirm returns nil if at some instant since it was called no leader of a later term was elected: then
// all that was acknowledged before the call is in this member's state, or in a log that it leads.
//
// raft's VerifyLeader is not enough. It takes any answer of a follower for a yes, also one that was
// on its way before: a leader that was stopped (SIGSTOP, a paused VM) finds such answers when it goes
// on, and would serve reads from before its successor's writes. And it counts members without a vote. Here most
// voters must say that they are in this leader's term, asked after the read began. A later leader would
// need the vote of one of them, who would be in a later term then.
func (c *Leader) Confirm(ctx context.Context, lead *Leadership) error {
	if c.peers == nil {
		return c.log.Await(ctx, c.member.Raft.VerifyLeader()) // in memory: a cluster of one, or a test's
	}
	lead.asks.mu.Lock()
	if lead.asks.next == nil {
		lead.asks.next = &confirmation{done: make(chan struct{})}
	}
	wanted := lead.asks.next
	if !lead.asks.busy {
		lead.asks.busy = c.tasks.Go(func() { c.askOn(lead) })
	}
	started := lead.asks.busy
	lead.asks.mu.Unlock()
	if !started {
		return outcome.ErrShutdown
	}
	select {
	case <-wanted.done:
		return wanted.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// askOn asks until nobody wants to know.
func (c *Leader) askOn(lead *Leadership) {
	for {
		lead.asks.mu.Lock()
		now := lead.asks.next
		lead.asks.next = nil
		lead.asks.busy = now != nil
		lead.asks.mu.Unlock()
		if now == nil {
			return
		}
		now.err = c.askTerm(lead)
		close(now.done)
	}
}

// ErrDeposed: this member no longer leads.
var ErrDeposed = errors.New("most members do not confirm that this one leads")

// askTerm asks the voters for their term; most of them, this member among them, must be in that of lead.
func (c *Leader) askTerm(lead *Leadership) error {
	servers, _, err := c.member.Servers()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(lead.Ctx, c.cfg.ApplyTimeout)
	defer cancel()
	votes := make(chan bool, len(servers))
	asked, yes := 0, 0
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel() // who has not answered is not waited for
	for _, s := range servers {
		switch {
		case s.Suffrage != raft.Voter:
		case s.ID == raft.ServerID(c.cfg.NodeID):
			asked++
			votes <- c.member.Raft.CurrentTerm() == lead.Term
		default:
			asked++
			asking.Go(func() {
				answer, err := c.peers.Health(ctx, string(s.Address), node.Checkpoint{}, time.Time{})
				votes <- err == nil && answer.GetId() == string(s.ID) && answer.GetTerm() == lead.Term
			})
		}
	}
	for left := asked; left > 0; left-- {
		if <-votes {
			yes++
		}
		if yes > asked/2 {
			return nil
		}
	}
	return fmt.Errorf("%w: %d of %d are in term %d", ErrDeposed, yes, asked, lead.Term)
}
