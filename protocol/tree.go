package protocol

import "math/bits"

// Tree is an ordered binary tree over its leaves 0..Tree-1. Node (level l, index i)
// covers the leaves [i*2^l, min((i+1)*2^l, n)). A lone child is its parent.
type Tree int

// Node names a node of a tree. Only the canonical name of a node is used on the
// wire: the lowest of those that cover the same leaves.
type Node struct {
	Level int
	Index int
}

// Root is the node that covers every leaf.
func (t Tree) Root() Node {
	return Node{Level: bits.Len(uint(max(t, 1) - 1))}
}

// Range returns the leaves [first, end) that n covers.
func (t Tree) Range(n Node) (first, end int) {
	first = n.Index << n.Level
	return first, min(first+1<<n.Level, int(t))
}

// TreeOver returns the largest tree that ends with a node, of those in which the node has this name. In all of them the
// same nodes are above the node, and above those to its left.
func TreeOver(last Node) Tree { return Tree((last.Index + 1) << last.Level) }

// Valid reports whether n is the canonical name of a node of t.
func (t Tree) Valid(n Node) bool {
	if t < 1 || n.Level < 0 || n.Index < 0 || n.Level > t.Root().Level || n.Index > (int(t)-1)>>n.Level {
		return false
	}
	return t.Canonical(n) == n
}

// Canonical is the lowest node that covers the same leaves as n.
func (t Tree) Canonical(n Node) Node {
	for n.Level > 0 && (2*n.Index+1)<<(n.Level-1) >= int(t) {
		n = Node{Level: n.Level - 1, Index: 2 * n.Index}
	}
	return n
}

// Children returns the canonical children of a canonical node; ok is false for a leaf.
func (t Tree) Children(n Node) (left, right Node, ok bool) {
	if n.Level == 0 {
		return Node{}, Node{}, false
	}
	left = Node{Level: n.Level - 1, Index: 2 * n.Index}
	right = t.Canonical(Node{Level: n.Level - 1, Index: 2*n.Index + 1})
	return left, right, true
}

// Parent returns the canonical parent of a canonical node; ok is false for the root.
func (t Tree) Parent(n Node) (parent Node, ok bool) {
	root := t.Root()
	for n.Level < root.Level {
		n = Node{Level: n.Level + 1, Index: n.Index / 2}
		if up := t.Canonical(n); up == n {
			return n, true
		}
	}
	return Node{}, false
}
