package run

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// FoldSource gives Fold what it does not merge itself.
type FoldSource struct {
	// Made returns the partial that someone already made for a node, or nil. It may be nil itself.
	Made func(ctx context.Context, node protocol.Node) (jobs.Arrays, error)
	// Leaf computes the partial of one leaf.
	Leaf func(ctx context.Context, index int) (jobs.Arrays, error)
	// Keep sees the partial of each node that Fold maps or merges, in post-order. It may be nil.
	Keep func(ctx context.Context, node protocol.Node, partial jobs.Arrays) error
}

// Fold computes the partial of a canonical node of a tree: it takes what is made,
// maps the other leaves and merges left before right along the tree. Depth first, so that no more
// than one partial for each level is alive. Partials are arrays in the types they
// are stored in, so that a partial made here and one read back are the same bits.
func (t *Tasks) Fold(ctx context.Context, phase string, tree protocol.Tree, node protocol.Node,
	from FoldSource) (jobs.Arrays, error) {
	p, err := t.phase(phase)
	if err != nil {
		return nil, err
	}
	if !tree.Valid(node) {
		return nil, fmt.Errorf("jobs: %+v is not a canonical node of a tree of %d leaves", node, tree)
	}
	return fold{t, p, tree, from}.node(ctx, node)
}

type fold struct {
	tasks *Tasks
	phase jobs.Phase
	tree  protocol.Tree
	from  FoldSource
}

func (f fold) node(ctx context.Context, node protocol.Node) (jobs.Arrays, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.from.Made != nil {
		if made, err := f.from.Made(ctx, node); made != nil || err != nil {
			return made, err
		}
	}
	left, right, ok := f.tree.Children(node)
	if !ok {
		leaf, err := f.from.Leaf(ctx, node.Index)
		if err != nil {
			return nil, err
		}
		return f.keep(ctx, node, leaf)
	}
	a, err := f.node(ctx, left)
	if err != nil {
		return nil, err
	}
	b, err := f.node(ctx, right)
	if err != nil {
		return nil, err
	}
	merged, err := f.mergeNodes(a, b)
	if err != nil {
		return nil, err
	}
	return f.keep(ctx, node, merged)
}

// keep shows a partial that was made.
func (f fold) keep(ctx context.Context, node protocol.Node, partial jobs.Arrays) (jobs.Arrays, error) {
	if f.from.Keep == nil {
		return partial, nil
	}
	return partial, f.from.Keep(ctx, node, partial)
}
