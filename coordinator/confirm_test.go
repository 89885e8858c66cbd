package coordinator

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gram-compute/gram/coordinator/lead"
)

// Once another has been elected, no leadership of an earlier term is confirmed, whatever raft heard
// before; one that holds is, for many reads at a time.
func TestLeadershipIsConfirmedByTerm(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	old := q.leader()
	var before *lead.Leadership
	q.poll("a leadership", func() bool {
		lead, err := q.leader().leads.Leadership()
		if err == nil {
			old, before = q.leader(), lead
		}
		return err == nil && old.leads.Confirm(t.Context(), lead) == nil
	})
	var reads sync.WaitGroup
	for range 50 {
		reads.Go(func() {
			if err := old.leads.Confirm(t.Context(), before); err != nil && before.Ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	reads.Wait()

	q.poll("another leader", func() bool {
		_ = old.member.Raft.LeadershipTransfer().Error() // it may not lead any more
		_, err := q.leader().leads.Leadership()
		return err == nil && q.leader() != old
	})
	// As a member that was stopped believes.
	asleep := &lead.Leadership{Ctx: context.WithoutCancel(t.Context()), Term: before.Term}
	if err := old.leads.Confirm(t.Context(), asleep); !errors.Is(err, lead.ErrDeposed) {
		t.Errorf("a leadership that is over: %v", err)
	}
}
