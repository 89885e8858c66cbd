package protocol_test

import (
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// Five leaves:            root 0-4
//
//	      (2,0) 0-3        4
//	(1,0) 0-1  (1,1) 2-3
func TestTreeOfFive(t *testing.T) {
	tree := protocol.Tree(5)
	if got := tree.Root(); got != (protocol.Node{Level: 3}) {
		t.Fatalf("root = %v", got)
	}
	left, right, ok := tree.Children(tree.Root())
	if !ok || left != (protocol.Node{Level: 2}) || right != (protocol.Node{Index: 4}) {
		t.Fatalf("children of the root = %v, %v, %v; the lone leaf 4 must stand for its chain of parents", left, right,
			ok)
	}
	if tree.Valid(protocol.Node{Level: 1, Index: 2}) {
		t.Error("(1,2) covers leaf 4 alone and must not be a name of its own")
	}
	for _, n := range []protocol.Node{{Index: 5}, {Index: -1}, {Level: -1}, {Level: 3, Index: 1}, {Level: 4}} {
		if tree.Valid(n) {
			t.Errorf("%v lies outside of the tree and must not be valid", n)
		}
	}
	if !tree.Valid(protocol.Node{Index: 4}) || protocol.Tree(0).Valid(protocol.Node{}) {
		t.Error("the last leaf must be valid, and no node of a tree without leaves")
	}
	if _, ok := tree.Parent(tree.Root()); ok {
		t.Error("the root has a parent")
	}
	if parent, ok := tree.Parent(protocol.Node{Index: 4}); !ok || parent != tree.Root() {
		t.Errorf("parent of leaf 4 = %v, %v", parent, ok)
	}
}

// Whatever the last piece of a tree is, the largest tree that ends with it has the same nodes above the pieces.
func TestTreeOverTheLastPiece(t *testing.T) {
	if got := protocol.TreeOver(protocol.Node{Level: 2, Index: 1}); got != 8 {
		t.Fatalf("a tree of %d leaves ends with the node of the leaves 4 to 7", got)
	}
	for leaves := 1; leaves <= 300; leaves++ {
		tree := protocol.Tree(leaves)
		for last, more := tree.Canonical(tree.Root()), true; more; _, last, more = tree.Children(last) {
			over := protocol.TreeOver(last)
			sameAbove(t, tree, over, tree.Canonical(tree.Root()), over.Canonical(over.Root()), last)
		}
	}
}

// sameAbove wants two trees to have the same nodes from a root down to the last piece, and left of it.
func sameAbove(t *testing.T, a, b protocol.Tree, n, m, last protocol.Node) {
	t.Helper()
	if n != m {
		t.Fatalf("node %v of %d leaves is %v where %v is the last piece", n, a, m, last)
	}
	if n == last {
		return
	}
	left, right, ok := a.Children(n)
	other, rest, too := b.Children(m)
	if ok != too || left != other {
		t.Fatalf("the children of %v of %d leaves are not those where %v is the last piece", n, a, last)
	}
	sameAbove(t, a, b, right, rest, last)
}

func TestTreeNodesPartitionTheLeaves(t *testing.T) {
	for leaves := 1; leaves <= 300; leaves++ {
		tree := protocol.Tree(leaves)
		if nodes := nodesBelow(t, tree, tree.Root()); nodes != 2*leaves-1 {
			t.Fatalf("%d nodes over %d leaves", nodes, leaves)
		}
	}
}

// nodesBelow checks a node and all below it, and counts them.
func nodesBelow(t *testing.T, tree protocol.Tree, n protocol.Node) int {
	t.Helper()
	first, end := tree.Range(n)
	if !tree.Valid(n) || first >= end {
		t.Fatalf("node %v of %d covers [%d,%d), valid %v", n, tree, first, end, tree.Valid(n))
	}
	left, right, ok := tree.Children(n)
	if !ok {
		if end != first+1 {
			t.Fatalf("leaf %v covers [%d,%d)", n, first, end)
		}
		return 1
	}
	leftFirst, leftEnd := tree.Range(left)
	rightFirst, rightEnd := tree.Range(right)
	if leftFirst != first || leftEnd != rightFirst || rightEnd != end {
		t.Fatalf("children of %v do not split [%d,%d)", n, first, end)
	}
	nodes := 1
	for _, child := range []protocol.Node{left, right} {
		if parent, ok := tree.Parent(child); !ok || parent != n {
			t.Fatalf("parent of %v = %v, %v; want %v", child, parent, ok, n)
		}
		nodes += nodesBelow(t, tree, child)
	}
	return nodes
}
