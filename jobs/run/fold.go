package run

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// FoldSource gives Fold what it does not merge itself.
type FoldSource struct {
	// Made returns the partial that someone already made for a node, and its digest; or nil. It may be nil itself.
	Made func(ctx context.Context, node protocol.Node) (jobs.Arrays, [digestBytes]byte, error)
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
	made, err := fold{t, p, tree, from}.node(ctx, node)
	return made.arrays, err
}

// Piece is a node that someone made, with its partial and that partial's digest.
type Piece struct {
	Node    protocol.Node
	Partial jobs.Arrays
	Digest  [digestBytes]byte
}

// FoldPieces folds nodes that make up a tree, in order of leaf, to the partial of its root: the same bytes as Fold
// makes of the root, wherever the tree is cut into pieces. Keep is as in FoldSource.
func (t *Tasks) FoldPieces(ctx context.Context, phase string, pieces []Piece,
	keep func(ctx context.Context, node protocol.Node, partial jobs.Arrays) error) (jobs.Arrays, error) {
	if len(pieces) == 0 {
		return nil, fmt.Errorf("jobs: there are no pieces to fold")
	}
	tree := protocol.TreeOver(pieces[len(pieces)-1].Node)
	return t.Fold(ctx, phase, tree, tree.Root(), FoldSource{Keep: keep,
		Made: func(_ context.Context, node protocol.Node) (jobs.Arrays, [digestBytes]byte, error) {
			for _, p := range pieces {
				if p.Node == node {
					return p.Partial, p.Digest, nil
				}
			}
			return nil, [digestBytes]byte{}, nil
		},
		Leaf: func(_ context.Context, index int) (jobs.Arrays, error) {
			return nil, fmt.Errorf("jobs: leaf %d is in none of the pieces to fold", index)
		}})
}

type fold struct {
	tasks *Tasks
	phase jobs.Phase
	tree  protocol.Tree
	from  FoldSource
}

// partial is that of a node; its digest is computed when the node above wants it.
type partial struct {
	arrays jobs.Arrays
	known  bool
	digest [digestBytes]byte
}

func (p partial) digested() [digestBytes]byte {
	if p.known {
		return p.digest
	}
	return p.arrays.Digest()
}

func (f fold) node(ctx context.Context, node protocol.Node) (partial, error) {
	if err := ctx.Err(); err != nil {
		return partial{}, err
	}
	if f.from.Made != nil {
		if made, digest, err := f.from.Made(ctx, node); made != nil || err != nil {
			return partial{made, true, digest}, err
		}
	}
	made, err := f.make(ctx, node)
	if err != nil || f.from.Keep == nil {
		return partial{arrays: made}, err
	}
	return partial{arrays: made}, f.from.Keep(ctx, node, made)
}

// make maps a leaf, or merges the children of a node.
func (f fold) make(ctx context.Context, node protocol.Node) (jobs.Arrays, error) {
	left, right, ok := f.tree.Children(node)
	if !ok {
		return f.from.Leaf(ctx, node.Index)
	}
	a, err := f.node(ctx, left)
	if err != nil {
		return nil, err
	}
	b, err := f.node(ctx, right)
	if err != nil {
		return nil, err
	}
	return f.mergeNodes(a, b)
}
