// Package lease puts leases on the wire: what a worker is told of its tasks, and the token that authenticates them.
package lease

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// macBytes is how much of the HMAC a lease token carries. Behind it stands what the lease has a node folded from.
const macBytes = 16

// MAC authenticates that a task was leased to a worker, to be made from the basis. Any member can check it at any
// time: nothing is looked up, so that tokens that have expired count, and those of earlier leaders.
func MAC(secret []byte, workerID string, t schedule.Task, token schedule.Token, basis [sha256.Size]byte) []byte {
	key := hmac.New(sha256.New, secret)
	key.Write([]byte("lease token with a basis"))
	mac := hmac.New(sha256.New, key.Sum(nil))
	for _, text := range []string{workerID, t.JobID} {
		mac.Write(binary.AppendUvarint(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	for _, n := range []uint64{
		uint64(t.Round), uint64(t.Kind), uint64(t.Tree), uint64(t.Node.Level), uint64(t.Node.Index), t.Changes,
		token.Term, token.Sequence, token.Epoch,
	} {
		mac.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	mac.Write(basis[:])
	if t.Again { // the token of the first time is void for the second
		mac.Write([]byte("again"))
	}
	sum := mac.Sum(nil)[:macBytes]
	if basis != [sha256.Size]byte{} {
		sum = append(sum, basis[:]...)
	}
	return sum
}

// maxLevel is that of the root of the largest tree: no token names a higher one.
const maxLevel = 20

var _ = [1]bool{}[1<<maxLevel-state.MaxLeaves] // does not compile when that changes

// Authentic reports whether this cluster granted the task, or a node above it, to the worker under the token, and what
// it is made from. The token of a lease covers the nodes below, no matter which worker made the lease smaller. If the
// lease names pieces, its token covers the node alone.
func Authentic(secret []byte, workerID string, h schedule.Held, mac []byte) (basis [sha256.Size]byte, ok bool) {
	if len(secret) == 0 || len(mac) != macBytes && len(mac) != macBytes+sha256.Size {
		return basis, false
	}
	folded := copy(basis[:], mac[macBytes:]) > 0
	t := h.Task
	for {
		if hmac.Equal(mac, MAC(secret, workerID, t, h.Token, basis)) {
			return basis, true
		}
		if t.Kind != pb.TaskKind_TASK_KIND_NODE || t.Node.Level >= maxLevel || folded {
			return basis, false
		}
		t.Node = protocol.Node{Level: t.Node.Level + 1, Index: t.Node.Index >> 1}
	}
}
