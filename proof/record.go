package proof

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// maxLeaves bounds the leaves of a round, as the coordinator does.
const maxLeaves = 1 << 20

// Record is a finished round: 32 bytes for each node, and some hundred more. It is a function of data, spec and seed.
type Record struct {
	Round     int64 // counted from 1
	Phase     string
	State     Digest  // what the round began with
	StateSize int64   // in bytes
	Before    Digest  // of the record of the round before; zeros for the first. The state holds it too
	Trees     []int64 // leaves of each tree
	Nodes     []byte  // digests, 32 bytes each: tree after tree, in post-order
}

// Fields lists the record.
func (r *Record) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "round", &r.Round)
	f.Require(r.Round > 0, "a round %d", r.Round)
	f.Text("phase", &r.Phase)
	digest(f, "state", &r.State)
	jobs.Scalar(f, "state.size", &r.StateSize)
	f.Require(r.StateSize >= 0, "a state of %d bytes", r.StateSize)
	digest(f, "before", &r.Before)
	f.Require((r.Before == Digest{}) == (r.Round == 1), "round %d and the record before it do not fit", r.Round)
	jobs.List(f, "trees", &r.Trees)
	nodes, leaves := 0, int64(0)
	for _, n := range r.Trees {
		f.Require(n > 0 && n <= maxLeaves, "a tree of %d leaves", n)
		leaves += n
		f.Require(leaves <= maxLeaves, "more than %d leaves", maxLeaves)
		nodes += Nodes(protocol.Tree(n))
	}
	jobs.List(f, "nodes", &r.Nodes, nodes, len(Digest{}))
}

func digest(f *jobs.Fields, name string, d *Digest) {
	bytes := d[:]
	jobs.List(f, name, &bytes, len(d))
	if f.Reading() {
		*d = Digest(bytes)
	}
}

// Leaves is the number of leaves of all trees.
func (r *Record) Leaves() int64 {
	leaves := int64(0)
	for _, n := range r.Trees {
		leaves += n
	}
	return leaves
}

// Node is the digest of a canonical node of a tree. It takes as many steps as there are trees before: who visits all
// nodes calls At.
func (r *Record) Node(tree int, node protocol.Node) Digest {
	before := 0
	for _, leaves := range r.Trees[:tree] {
		before += Nodes(protocol.Tree(leaves))
	}
	return r.At(before + Place(protocol.Tree(r.Trees[tree]), node))
}

// At is the digest of the node at a place among all of the round: tree after tree, each in post-order.
func (r *Record) At(place int) Digest {
	at := len(Digest{}) * place
	return Digest(r.Nodes[at : at+len(Digest{})])
}

// Encode writes the record, the same bytes for the same record.
func (r *Record) Encode() []byte { return jobs.ArraysOf(r).Encode() }

// ReadRecord reads what Encode wrote, strictly; all else is a *protocol.Fault of CodeCorrupt.
func ReadRecord(data []byte) (*Record, error) {
	arrays, err := jobs.Decode(data)
	if err != nil {
		return nil, err
	}
	return jobs.Read(arrays, new(Record))
}
