package protocol_test

import (
	"testing"

	"github.com/gram-compute/gram/protocol"
	"pgregory.net/rapid"
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
		t.Fatalf("children of the root = %v, %v, %v; the lone leaf 4 must stand for its chain of parents", left, right, ok)
	}
	if tree.Valid(protocol.Node{Level: 1, Index: 2}) {
		t.Error("(1,2) covers leaf 4 alone and must not be a name of its own")
	}
	if parent, ok := tree.Parent(protocol.Node{Index: 4}); !ok || parent != tree.Root() {
		t.Errorf("parent of leaf 4 = %v, %v", parent, ok)
	}
}

func TestTreeNodesPartitionTheLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := protocol.Tree(rapid.IntRange(1, 300).Draw(t, "leaves"))
		nodes := 0
		var visit func(n protocol.Node)
		visit = func(n protocol.Node) {
			nodes++
			first, end := tree.Range(n)
			if !tree.Valid(n) || first >= end {
				t.Fatalf("node %v of %d covers [%d,%d), valid %v", n, tree, first, end, tree.Valid(n))
			}
			left, right, ok := tree.Children(n)
			if !ok {
				if end != first+1 {
					t.Fatalf("leaf %v covers [%d,%d)", n, first, end)
				}
				return
			}
			leftFirst, leftEnd := tree.Range(left)
			rightFirst, rightEnd := tree.Range(right)
			if leftFirst != first || leftEnd != rightFirst || rightEnd != end {
				t.Fatalf("children of %v do not split [%d,%d)", n, first, end)
			}
			for _, child := range []protocol.Node{left, right} {
				if parent, ok := tree.Parent(child); !ok || parent != n {
					t.Fatalf("parent of %v = %v, %v; want %v", child, parent, ok, n)
				}
				visit(child)
			}
		}
		visit(tree.Root())
		if nodes != 2*int(tree)-1 {
			t.Fatalf("%d nodes over %d leaves", nodes, tree)
		}
	})
}
