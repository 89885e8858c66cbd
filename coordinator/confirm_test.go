package coordinator

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Once another has been elected, no leadership of an earlier term is confirmed, whatever raft heard
// before; one that holds is, for many reads at a time.
func TestLeadershipIsConfirmedByTerm(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	old := q.leader()
	var before *leadership
	q.poll("a leadership", func() bool {
		lead, err := q.leader().leader()
		if err == nil {
			old, before = q.leader(), lead
		}
		return err == nil && old.confirm(t.Context(), lead) == nil
	})
	var reads sync.WaitGroup
	for range 50 {
		reads.Go(func() {
			if err := old.confirm(t.Context(), before); err != nil && before.ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	reads.Wait()

	q.poll("another leader", func() bool {
		_ = old.member.Raft.LeadershipTransfer().Error() // it may not lead any more
		_, err := q.leader().leader()
		return err == nil && q.leader() != old
	})
	asleep := &leadership{ctx: context.WithoutCancel(t.Context()), term: before.term} // as a member that was stopped believes
	if err := old.confirm(t.Context(), asleep); !errors.Is(err, errDeposed) {
		t.Errorf("a leadership that is over: %v", err)
	}
}
