package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

// roundTask repeats parts of one round.
type roundTask struct {
	*verifier
	round   *round
	at      int // index among the verifier's rounds
	state   jobs.Arrays
	work    *work
	carries bool // the round's phase carries arrays from one round to the next
}

// errStopped ends a fold in which something is false, or missing; that is noted.
var errStopped = errors.New("something is false, or missing")

// guarded runs code of a kind; a panic is an error.
func guarded(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return f()
}

// whole repeats all of the round: leaves a little ahead of the fold, which compares every node in post-order, so that
// the first false node is the one to blame. It returns the next state where there is one.
func (t *roundTask) whole(ctx context.Context) (jobs.Arrays, error) {
	if ok, err := t.fold(ctx); err != nil || !ok {
		return nil, err
	}
	next, err := t.step(ctx, func(_ context.Context, tree int) (jobs.Arrays, error) {
		return t.shelf.get(slot{tree: tree, leaf: -1})
	})
	for tree := range t.round.Trees {
		err = errors.Join(err, t.shelf.drop(slot{tree: tree, leaf: -1}))
	}
	if len(t.result.False) == 0 {
		t.count(&t.result.Rounds)
	}
	return next, err
}

// fold repeats leaves and merges, and keeps the roots. Where a leaf is missing, the other leaves are repeated alone.
func (t *roundTask) fold(ctx context.Context) (ok bool, err error) {
	leaves := t.mapAhead(ctx)
	defer leaves.stop()
	for tree := range t.round.Trees {
		root, err := t.foldTree(ctx, tree, leaves)
		if leaves.failed != nil {
			return false, leaves.failed
		}
		if errors.Is(err, errStopped) {
			leaves.tasks.Wait()
			if len(t.result.False) > 0 {
				return false, nil
			}
			return false, t.leaves(ctx, leaves.begun)
		}
		if err != nil {
			return false, t.failed(Finding{Of: OfMerge, Round: t.round.Round, Phase: t.round.Phase, Tree: tree,
				Says: fmt.Sprintf("Round %d (%s), tree %d, a merge", t.round.Round, t.round.Phase, tree)}, err)
		}
		if err := t.shelf.put(slot{tree: tree, leaf: -1}, root); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (t *roundTask) foldTree(ctx context.Context, tree int, leaves *ahead) (root jobs.Arrays, err error) {
	shape := t.round.tree(tree)
	err = guarded(func() (err error) {
		root, err = t.tasks.Fold(ctx, t.round.Phase, shape, shape.Canonical(shape.Root()), run.FoldSource{
			Leaf: func(_ context.Context, index int) (jobs.Arrays, error) {
				return leaves.take(t.round.leaf[tree] + int64(index))
			},
			Keep: func(_ context.Context, node protocol.Node, partial jobs.Arrays) error {
				return t.compareMerge(tree, node, partial)
			},
		})
		return err
	})
	return root, err
}

// compareMerge compares a merged partial; leaves were compared before.
func (t *roundTask) compareMerge(tree int, node protocol.Node, partial jobs.Arrays) error {
	if node.Level == 0 {
		return nil
	}
	recorded, repeated := t.round.recorded(tree, node), proof.Digest(partial.Digest())
	if recorded != repeated {
		t.noteFalse(t.finding(t.round, tree, node).differs(recorded, repeated))
		return errStopped
	}
	t.count(&t.result.Merges)
	return nil
}

// merges repeats each merge of the round from the partials of its children, which are kept.
func (t *roundTask) merges(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.cfg.parallel())
	for tree := range t.round.Trees {
		for node := range proof.PostOrder(t.round.tree(tree)) {
			if node.Level > 0 {
				group.Go(func() error { return t.mergeStored(ctx, tree, node) })
			}
		}
	}
	return group.Wait()
}

func (t *roundTask) mergeStored(ctx context.Context, tree int, node protocol.Node) error {
	defer t.advance()
	made := func(ctx context.Context, child protocol.Node) (jobs.Arrays, [32]byte, error) {
		if child == node {
			return nil, [32]byte{}, nil
		}
		arrays, err := t.stored(ctx, tree, child)
		return arrays, t.round.recorded(tree, child), err
	}
	err := guarded(func() error {
		partial, err := t.tasks.Fold(ctx, t.round.Phase, t.round.tree(tree), node, run.FoldSource{Made: made})
		if err != nil {
			return err
		}
		return t.compareMerge(tree, node, partial)
	})
	if err == nil || errors.Is(err, errStopped) {
		return nil
	}
	return t.failed(t.finding(t.round, tree, node), err)
}

// stored reads the partial of a node that is kept. One that is missing is noted, and the error is errStopped.
func (t *roundTask) stored(ctx context.Context, tree int, node protocol.Node) (jobs.Arrays, error) {
	digest := t.round.recorded(tree, node)
	arrays, err := t.readArrays(ctx, proof.PartialFile(digest), digest)
	if arrays == nil && err == nil {
		err = errStopped
	}
	return arrays, err
}

func (t *roundTask) storedRoot(ctx context.Context, tree int) (jobs.Arrays, error) {
	shape := t.round.tree(tree)
	return t.stored(ctx, tree, shape.Canonical(shape.Root()))
}

// step repeats the step of the round from roots, and compares what it makes. It returns the next state where there is
// one, and it is the job's.
func (t *roundTask) step(
	ctx context.Context, root func(context.Context, int) (jobs.Arrays, error),
) (jobs.Arrays, error) {
	f := stepFinding(t.round)
	found := &t.found[t.at]
	var next jobs.Next
	var record *proof.Record
	var unread error // of a root
	err := guarded(func() (err error) {
		next, record, err = t.tasks.Step(ctx, t.round.Phase, t.state, jobs.Round{Plan: t.cut(),
			Trees: len(t.round.Trees), Emit: watch(found, t.emit(f)),
			Root: func(ctx context.Context, tree int) (arrays jobs.Arrays, err error) {
				if arrays, err = root(ctx, tree); err != nil {
					unread = err
				}
				return arrays, err
			}})
		return err
	})
	switch {
	case errors.Is(unread, errStopped):
		return nil, nil
	case unread != nil:
		return nil, unread
	case err != nil:
		return nil, t.failed(f, err)
	}
	recorded := t.manifest.Rounds[t.at].Record.SHA256
	if repeated := proof.Digest(jobs.ArraysOf(record).Digest()); repeated != recorded {
		t.noteFalse(f.differs(recorded, repeated))
		return nil, nil
	}
	if !t.follows(t.at, next) {
		return nil, nil
	}
	t.count(&t.result.Steps)
	if found.Metrics = next.Metrics; next.Done {
		return nil, nil
	}
	return next.State, nil
}

// emit compares what a leaf or step emits with the file beside the model.
func (v *verifier) emit(f Finding) jobs.Emit {
	return func(ctx context.Context, name string, data []byte) (jobs.File, error) {
		sum := sha256.Sum256(data)
		made := jobs.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
		stored, err := v.digestOf(ctx, name)
		if err != nil {
			return made, v.unread(name, err)
		}
		got := stored.SHA256
		if got == sum {
			v.mu.Lock()
			v.result.Emitted++
			v.mu.Unlock()
			return made, nil
		}
		of := f
		of.Of, of.File = OfOutput, name
		of.Says += ", the file " + name
		v.noteFalse(of.differs(got, sum))
		return made, nil
	}
}
