package schedule

import (
	"sort"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
)

// blockLeaves is the grain in which places for merges are remembered.
const blockLeaves = 64

// leafMap remembers where a round's work may be found, so that finding it does not
// mean walking the round. Leaves are numbered through the trees. What it holds are
// supersets: the board may not have heard of every commit, and the round's commits
// have the last word.
type leafMap struct {
	starts []int  // number of each tree's first leaf, and of the leaf after the last
	free   bitset // leaves that may be neither committed nor leased
	count  int    // of free
	// stirred are the blocks in which a node was committed or a lease dropped since
	// they were last searched for merges.
	stirred bitset
}

func newLeafMap(round state.Round) leafMap {
	m := leafMap{starts: make([]int, len(round.Trees)+1)}
	for t, leaves := range round.Trees {
		m.starts[t+1] = m.starts[t] + int(leaves)
	}
	m.free, m.stirred = newBitset(m.total()), newBitset(m.total()/blockLeaves+1)
	m.count = m.free.setRange(0, m.total(), true)
	round.EachCommit(func(c state.Commit) bool {
		m.committed(c.Tree, c.Node)
		return true
	})
	return m
}

func (m *leafMap) total() int { return m.starts[len(m.starts)-1] }

// valid reports whether the round has such a node.
func (m *leafMap) valid(tree uint32, n protocol.Node) bool {
	return int(tree) < len(m.starts)-1 && m.tree(tree).Valid(n)
}

func (m *leafMap) tree(t uint32) protocol.Tree {
	return protocol.Tree(m.starts[t+1] - m.starts[t])
}

// span is the numbers [first, end) of the leaves below a node.
func (m *leafMap) span(tree uint32, n protocol.Node) (first, end int) {
	first, end = m.tree(tree).Range(n)
	return m.starts[tree] + first, m.starts[tree] + end
}

// locate says which leaf of which tree has this number.
func (m *leafMap) locate(number int) (tree uint32, leaf int) {
	t := sort.SearchInts(m.starts, number+1) - 1
	return uint32(t), number - m.starts[t]
}

// leased takes a node's leaves away.
func (m *leafMap) leased(tree uint32, n protocol.Node) {
	first, end := m.span(tree, n)
	m.count -= m.free.setRange(first, end, false)
}

// committed takes a node's leaves away, and may make a merge possible above it.
func (m *leafMap) committed(tree uint32, n protocol.Node) {
	m.leased(tree, n)
	first, _ := m.span(tree, n)
	m.stirred.setRange(first/blockLeaves, first/blockLeaves+1, true)
}

// dropped gives a node back whose lease is no more; the leaves of a merge are committed.
func (m *leafMap) dropped(tree uint32, n protocol.Node, merge bool) {
	first, end := m.span(tree, n)
	if !merge {
		m.count += m.free.setRange(first, end, true)
	}
	m.stirred.setRange(first/blockLeaves, (end-1)/blockLeaves+1, true)
}
