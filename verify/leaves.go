package verify

import (
	"context"
	"sync"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

// leaves repeats the leaves that are planned, from one on, each by itself.
func (t *roundTask) leaves(ctx context.Context, from int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.cfg.parallel())
	t.work.leaves(t.round.Leaves(), func(leaf int64) {
		if leaf < from {
			return
		}
		group.Go(func() error {
			_, err := t.leaf(ctx, leaf)
			return err
		})
	})
	return group.Wait()
}

// leaf repeats one leaf and compares it. The partial is nil, and the reason noted, if it is not the job's or could not
// be made. The error is the context's, or of temporary files.
func (t *roundTask) leaf(ctx context.Context, leaf int64) (jobs.Arrays, error) {
	defer t.advance()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tree, index := t.round.leafAt(leaf)
	at := slot{t.round.Phase, tree, index}
	if t.carries && t.isBroken(at) {
		return nil, nil
	}
	partial, err := t.mapLeaf(ctx, at)
	if err != nil || partial == nil {
		t.breaks(at)
		return nil, err
	}
	t.count(&t.result.Leaves)
	if t.work.known && t.work.drawn == nil || t.work.drawn[leaf] {
		t.mu.Lock()
		t.result.Drawn++
		t.mu.Unlock()
	}
	return partial, nil
}

// mapLeaf maps a leaf with what its phase carries, and compares it.
func (t *roundTask) mapLeaf(ctx context.Context, at slot) (jobs.Arrays, error) {
	var carry, partial, carried jobs.Arrays
	var err error
	if t.carries {
		if carry, err = t.shelf.get(at); err != nil {
			return nil, err
		}
	}
	node := protocol.Node{Index: at.leaf}
	f := t.finding(t.round, at.tree, node)
	leaf := jobs.Leaf{Tree: at.tree, Index: at.leaf, Plan: t.cut(), Read: t.readShard, Emit: t.emit(f)}
	err = guarded(func() (err error) {
		partial, carried, err = t.tasks.Map(ctx, t.round.Phase, t.state, leaf, carry)
		return err
	})
	if err != nil {
		return nil, t.failed(f, err)
	}
	recorded, repeated := t.round.recorded(at.tree, node), proof.Digest(partial.Digest())
	if recorded != repeated {
		t.noteFalse(f.differs(recorded, repeated))
		return nil, nil
	}
	if t.carries {
		return partial, t.shelf.put(at, carried)
	}
	return partial, nil
}

// isBroken reports whether what a leaf's phase carries is not known, since an earlier round could not be repeated.
func (v *verifier) isBroken(at slot) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.broken[at] || v.broken[slot{phase: at.phase, leaf: -1}]
}

func (v *verifier) breaks(at slot) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.broken[at] = true
}

// ahead maps all leaves of a round in order, a few before they are taken.
type ahead struct {
	task   *roundTask
	ctx    context.Context
	cancel context.CancelFunc
	made   []chan mapped // leaf i is in place i modulo the length
	begun  int64         // leaves
	tasks  sync.WaitGroup
	failed error // of the context, or of temporary files
}

type mapped struct {
	partial jobs.Arrays
	err     error
}

func (t *roundTask) mapAhead(ctx context.Context) *ahead {
	a := &ahead{task: t, made: make([]chan mapped, t.cfg.parallel()+1)}
	a.ctx, a.cancel = context.WithCancel(ctx)
	for i := range a.made {
		a.made[i] = make(chan mapped, 1)
		a.begin()
	}
	return a
}

func (a *ahead) begin() {
	leaf := a.begun
	if leaf >= a.task.round.Leaves() {
		return
	}
	a.begun++
	a.tasks.Go(func() {
		partial, err := a.task.leaf(a.ctx, leaf)
		a.made[leaf%int64(len(a.made))] <- mapped{partial, err}
	})
}

// take returns the next leaf, or errStopped if it is not the job's or could not be made.
func (a *ahead) take(leaf int64) (jobs.Arrays, error) {
	m := <-a.made[leaf%int64(len(a.made))]
	switch {
	case m.err != nil:
		a.failed = m.err
		return nil, m.err
	case m.partial == nil:
		return nil, errStopped
	}
	a.begin()
	return m.partial, nil
}

// stop ends what was begun.
func (a *ahead) stop() {
	a.cancel()
	a.tasks.Wait()
}
