package state

import (
	"encoding/binary"

	"github.com/gram-compute/gram/protocol"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Round is a forest of ordered trees and what is committed of it.
type Round struct {
	Number    uint32 // from 1; 0 before the plan is committed
	Phase     string
	Trees     []uint32 // leaves of each tree
	State     Ref
	Base      uint32 // the round that made State and Kept: the one before, or 0 where the rounds begin
	Inherited uint64 // the makers that State is made of, as bits
	Expected  Ref    // the state that the step made before the round was reopened; zero where it was not
	StartedAt int64
	// Covered counts the leaves below committed nodes.
	Covered uint64
	commits *iradix.Tree[Commit]
	carries *iradix.Tree[Carry] // kept from this round, by tree and first leaf
	// Kept are the carries of this phase's last round.
	Kept *iradix.Tree[Carry]
}

// Commit is a committed node. Commits below it have been dropped.
type Commit struct {
	Tree   uint32
	Node   protocol.Node
	Object Ref
	Worker string
	// WorkerID is that of the worker that made it, Makers all that had a part in it, as bits of the job's.
	WorkerID string
	Makers   uint64
}

// Carry is what a phase keeps for the leaves [First, End) of a tree.
type Carry struct {
	Tree, First, End uint32
	Object           Ref
}

func newRound(number uint32, phase string, trees []uint32, state Ref, now int64) Round {
	return Round{
		Number: number, Phase: phase, Trees: trees, State: state, StartedAt: now, Base: max(number, 1) - 1,
		commits: iradix.New[Commit](), carries: iradix.New[Carry](), Kept: iradix.New[Carry](),
	}
}

// Tree returns the shape of tree t.
func (r Round) Tree(t uint32) protocol.Tree { return protocol.Tree(r.Trees[t]) }

// Leaves counts the leaves of the whole forest.
func (r Round) Leaves() uint64 {
	total := uint64(0)
	for _, n := range r.Trees {
		total += uint64(n)
	}
	return total
}

// Complete reports whether every root is committed.
func (r Round) Complete() bool { return r.Whole() && r.Pieces() == len(r.Trees) }

// Whole reports whether every leaf is below a committed node: the roots are there in pieces.
func (r Round) Whole() bool { return r.commits != nil && r.known() && r.Covered == r.Leaves() }

// Pieces is how many nodes are committed.
func (r Round) Pieces() int { return r.commits.Len() }

// All are the commits in order of tree and leaf.
func (r Round) All() []Commit {
	all := make([]Commit, 0, r.Pieces())
	r.EachCommit(func(c Commit) bool {
		all = append(all, c)
		return true
	})
	return all
}

// Commits visits the commits that lie inside the leaves [first, end) of a tree,
// in order of leaf, until visit returns false.
func (r Round) Commits(tree uint32, first, end int, visit func(Commit) bool) {
	it := r.commits.Root().Iterator()
	it.SeekLowerBound(leafKey(tree, first))
	for _, c, ok := it.Next(); ok; _, c, ok = it.Next() {
		at, _ := r.Tree(c.Tree).Range(c.Node)
		if c.Tree != tree || at >= end || !visit(c) {
			return
		}
	}
}

// Covering returns the commit of n or of the nearest ancestor of n.
func (r Round) Covering(tree uint32, n protocol.Node) (Commit, bool) {
	shape := r.Tree(tree)
	for ok := true; ok; n, ok = shape.Parent(n) {
		first, _ := shape.Range(n)
		if c, found := r.commits.Get(leafKey(tree, first)); found && c.Node.Level >= n.Level {
			return c, true
		}
	}
	return Commit{}, false
}

// EachCommit visits every commit in order of tree and leaf.
func (r Round) EachCommit(visit func(Commit) bool) {
	r.commits.Root().Walk(func(_ []byte, c Commit) bool { return !visit(c) })
}

// CarriedByLeaf is about how many bytes the phase carries for a leaf: as many as for the first of those that are known,
// of this round or of the phase's last. 0 means that none are.
func (r Round) CarriedByLeaf() int64 {
	most := int64(0)
	for _, from := range []*iradix.Tree[Carry]{r.Kept, r.carries} {
		if _, c, ok := from.Root().Minimum(); ok {
			most = max(most, c.Object.Size/int64(c.End-c.First))
		}
	}
	return most
}

// CarriesIn returns what was kept for the leaves [first, end), in order.
func (r Round) CarriesIn(tree uint32, first, end int) []Carry {
	var found []Carry
	from := leafKey(tree, first)
	// carries do not overlap, so only the last one before may hold the first leaf
	back := r.Kept.Root().ReverseIterator()
	back.SeekReverseLowerBound(from)
	if key, c, ok := back.Previous(); ok && c.Tree == tree {
		from = key
	}
	it := r.Kept.Root().Iterator()
	it.SeekLowerBound(from)
	for _, c, ok := it.Next(); ok && c.Tree == tree && int(c.First) < end; _, c, ok = it.Next() {
		if int(c.End) > first {
			found = append(found, c)
		}
	}
	return found
}

// commit adds c, dropping what lies below it. The caller has checked that neither
// c's node nor an ancestor of it is committed.
func (r Round) commit(c Commit) Round {
	first, end := r.Tree(c.Tree).Range(c.Node)
	txn := r.commits.Txn()
	r.Commits(c.Tree, first, end, func(below Commit) bool {
		a, z := r.Tree(below.Tree).Range(below.Node)
		r.Covered -= uint64(z - a)
		txn.Delete(leafKey(below.Tree, a))
		return true
	})
	txn.Insert(leafKey(c.Tree, first), c)
	r.commits = txn.Commit()
	r.Covered += uint64(end - first)
	return r
}

// keep records a carry, dropping those of the leaves it covers.
func (r Round) keep(c Carry) Round {
	txn := r.carries.Txn()
	it := r.carries.Root().Iterator()
	it.SeekLowerBound(leafKey(c.Tree, int(c.First)))
	for key, old, ok := it.Next(); ok && old.Tree == c.Tree && old.First < c.End; key, old, ok = it.Next() {
		txn.Delete(key)
	}
	txn.Insert(leafKey(c.Tree, int(c.First)), c)
	r.carries = txn.Commit()
	return r
}

// uncommit takes back what is committed of a node: its own commit, one that covers it, and those below it. Carries go
// with the commits that their leaves are made by.
func (r Round) uncommit(tree uint32, n protocol.Node) Round {
	if c, ok := r.Covering(tree, n); ok {
		n = c.Node
	}
	first, end := r.Tree(tree).Range(n)
	commits, carries := r.commits.Txn(), r.carries.Txn()
	r.Commits(tree, first, end, func(c Commit) bool {
		from, to := r.Tree(tree).Range(c.Node)
		commits.Delete(leafKey(tree, from))
		r.Covered -= uint64(to - from)
		return true
	})
	it := r.carries.Root().Iterator()
	it.SeekLowerBound(leafKey(tree, first))
	for key, c, ok := it.Next(); ok && c.Tree == tree && int(c.First) < end; key, c, ok = it.Next() {
		carries.Delete(key)
	}
	r.commits, r.carries = commits.Commit(), carries.Commit()
	return r
}

// without takes back the commits in which one of the makers had a part, and counts them.
func (r Round) without(makers uint64) (rest Round, repeated uint64) {
	var tainted []Commit
	r.EachCommit(func(c Commit) bool {
		if c.Makers&makers != 0 {
			tainted = append(tainted, c)
		}
		return true
	})
	for _, c := range tainted {
		r = r.uncommit(c.Tree, c.Node)
	}
	return r, uint64(len(tainted))
}

// leafKey orders by tree, then leaf. A committed node is keyed by its first leaf:
// no two committed nodes share one, since neither is above the other.
func leafKey(tree uint32, leaf int) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, 8), tree)
	return binary.BigEndian.AppendUint32(key, uint32(leaf))
}
