package verify

import (
	"context"
	"sync"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// carriesOf is what a phase passed on from the round before, by tree and leaf.
type carriesOf map[[2]int]jobs.Arrays

// mapped is a leaf's partial, or why there is none.
type mapped struct {
	partial, carried jobs.Arrays
	err              error
}

// ahead maps the leaves of a tree, some at a time, ahead of the fold that takes them in order.
type ahead struct {
	results []chan mapped
	room    chan struct{}
	cancel  context.CancelFunc
	group   sync.WaitGroup
	carry   func(index int, carried jobs.Arrays)
}

// mapLeaves begins to map the leaves of a tree. stop must be called.
func (v *verifier) mapLeaves(
	ctx context.Context, record *proof.Record, state jobs.Arrays, tree, leaves int, carries carriesOf,
) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{results: make([]chan mapped, leaves), room: make(chan struct{}, 2*v.Slots), cancel: cancel}
	before := make([]jobs.Arrays, leaves)
	for i := range a.results {
		a.results[i], before[i] = make(chan mapped, 1), carries[[2]int{tree, i}]
	}
	a.carry = func(index int, carried jobs.Arrays) { carries[[2]int{tree, index}] = carried }
	next := make(chan int)
	for range min(v.Slots, leaves) {
		a.group.Go(func() {
			for i := range next {
				partial, carried, err := v.mapLeaf(ctx, record, state, tree, i, before[i])
				a.results[i] <- mapped{partial, carried, err}
			}
		})
	}
	a.group.Go(func() {
		defer close(next)
		for i := range leaves {
			select {
			case a.room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	return a
}

// take waits for the partial of a leaf. Leaves are taken in order.
func (a *ahead) take(ctx context.Context, index int) (jobs.Arrays, error) {
	select {
	case m := <-a.results[index]:
		<-a.room
		a.carry(index, m.carried)
		return m.partial, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stop ends the mapping and waits for it.
func (a *ahead) stop() {
	a.cancel()
	a.group.Wait()
}
