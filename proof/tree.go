package proof

import (
	"iter"
	"math/bits"

	"github.com/gram-compute/gram/protocol"
)

// Nodes is how many nodes a tree of that many leaves has.
func Nodes(t protocol.Tree) int { return 2*int(t) - 1 }

// PostOrder visits the nodes of a tree: those of the left child, those of the right one, the node itself.
func PostOrder(t protocol.Tree) iter.Seq[protocol.Node] {
	return func(yield func(protocol.Node) bool) { postOrder(t, t.Canonical(t.Root()), yield) }
}

func postOrder(t protocol.Tree, node protocol.Node, yield func(protocol.Node) bool) bool {
	left, right, ok := t.Children(node)
	if ok && (!postOrder(t, left, yield) || !postOrder(t, right, yield)) {
		return false
	}
	return yield(node)
}

// Place is the place of a canonical node in the post-order of its tree, counted from 0. Before it come the nodes to its
// left, which are a full tree for each bit of the number of leaves there, and those beneath it.
func Place(t protocol.Tree, node protocol.Node) int {
	first, end := t.Range(node)
	return 2*first - bits.OnesCount(uint(first)) + 2*(end-first) - 2
}
