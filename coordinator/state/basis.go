package state

import (
	"crypto/sha256"
	"encoding/binary"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Two results of a node can be compared when they were made from the same: from its leaves, or folded from the same
// pieces. A wrong piece makes what an honest worker folds from it wrong, and tells nothing of that worker.

// Basis names what a node was made from: a digest of its pieces, in order of leaf; zero if it was made from its leaves.
func Basis(pieces []Commit) (sum [32]byte) {
	if len(pieces) == 0 {
		return sum
	}
	h := sha256.New()
	for _, p := range pieces {
		at := binary.BigEndian.AppendUint32(nil, p.Tree)
		at = binary.BigEndian.AppendUint64(at, uint64(p.Node.Level))
		at = binary.BigEndian.AppendUint64(at, uint64(p.Node.Index))
		h.Write(append(at, p.Object.SHA256[:]...)) // never fails
	}
	return [32]byte(h.Sum(nil))
}

// foreign is the basis of a committed node in whose pieces others had a part: a commit does not keep them.
var foreign = [32]byte{1}

// madeFrom is what the completed node or step was made from. An older release did not say: it is taken to be what was
// committed.
func (c completion) madeFrom(committed []Commit) [32]byte {
	switch from := c.GetFoldedFrom(); {
	case c.FoldedFrom == nil:
		return Basis(committed)
	case len(from) == sha256.Size:
		return [32]byte(from)
	}
	return [32]byte{}
}

// judges reports whether a worker whose result differs from that of two others is wrong: it made it from the same. A
// plan is made from nothing; a step of an older release does not say from what.
func (a *Audit) judges(o Opinion) bool {
	step := a.Kind == pb.TaskKind_TASK_KIND_STEP
	return a.Kind == pb.TaskKind_TASK_KIND_PLAN || step && o.Basis == [32]byte{} || o.Basis == Basis(a.Pieces)
}

// alone reports whether nobody else had a part in what a worker committed: it is a leaf, or folded from the worker's
// own. Workers that share a bit cannot be told apart.
func (au *Auditing) alone(c Commit) bool {
	bit := au.bitOf(c.WorkerID)
	return c.Node.Level == 0 || c.Makers == bit && bit != 1<<sharedBit
}
