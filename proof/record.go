package proof

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// maxLeaves bounds the leaves of a round, as the coordinator does.
const maxLeaves = 1 << 20

// Record is a finished round: 32 bytes for each node, and some hundred more.
type Record struct {
	Round     uint32 // as the cluster numbered it
	Phase     string
	State     Digest  // what the round began with
	StateSize int64   // in bytes
	Trees     []int64 // leaves of each tree
	Nodes     []byte  // digests, 32 bytes each: tree after tree, in post-order
	Next      Digest  // what the step made: the next state, or the model
	NextSize  int64
}

// Fields lists the record.
func (r *Record) Fields(f *jobs.Fields) {
	round := int64(r.Round)
	jobs.Scalar(f, "round", &round)
	f.Require(round > 0 && round == int64(uint32(round)), "a round %d", round)
	if f.Reading() {
		r.Round = uint32(round)
	}
	f.Text("phase", &r.Phase)
	digest(f, "state", &r.State, &r.StateSize)
	jobs.List(f, "trees", &r.Trees)
	nodes, leaves := 0, int64(0)
	for _, n := range r.Trees {
		f.Require(n > 0 && n <= maxLeaves, "a tree of %d leaves", n)
		leaves += n
		f.Require(leaves <= maxLeaves, "more than %d leaves", maxLeaves)
		nodes += Nodes(protocol.Tree(n))
	}
	jobs.List(f, "nodes", &r.Nodes, nodes, len(Digest{}))
	digest(f, "next", &r.Next, &r.NextSize)
}

func digest(f *jobs.Fields, name string, d *Digest, size *int64) {
	bytes := d[:]
	jobs.List(f, name, &bytes, 1, len(d))
	if f.Reading() {
		copy(d[:], bytes)
	}
	jobs.Scalar(f, name+".size", size)
	f.Require(*size >= 0, "%s of %d bytes", name, *size)
}

// Node is the digest of a canonical node of a tree.
func (r *Record) Node(tree int, node protocol.Node) Digest {
	before := 0
	for _, leaves := range r.Trees[:tree] {
		before += Nodes(protocol.Tree(leaves))
	}
	at := len(Digest{}) * (before + Place(protocol.Tree(r.Trees[tree]), node))
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
