package coordinator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// macBytes is how much of the HMAC a lease token carries.
const macBytes = 16

// grantMAC authenticates that a task was leased to a worker. Any member can check it at any time: nothing is looked
// up, so that tokens that have expired count, and those of earlier leaders.
func grantMAC(secret []byte, workerID string, t schedule.Task, token schedule.Token) []byte {
	key := hmac.New(sha256.New, secret)
	key.Write([]byte("lease token"))
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
	if t.Again { // the token of the first time is not that of the second
		mac.Write([]byte("again"))
	}
	return mac.Sum(nil)[:macBytes]
}

// maxLevel is that of the root of the largest tree: no token names a higher one.
const maxLevel = 20

var _ = [1]bool{}[1<<maxLevel-state.MaxLeaves] // does not compile when that changes

// authentic reports whether this cluster granted the task, or a node above it, to the worker under the token. The
// token of a lease covers the nodes below, no matter which worker made the lease smaller.
func authentic(secret []byte, workerID string, h schedule.Held, mac []byte) bool {
	if len(secret) == 0 || len(mac) != macBytes {
		return false
	}
	t := h.Task
	for {
		if hmac.Equal(mac, grantMAC(secret, workerID, t, h.Token)) {
			return true
		}
		if t.Kind != pb.TaskKind_TASK_KIND_NODE || t.Node.Level >= maxLevel {
			return false
		}
		t.Node = protocol.Node{Level: t.Node.Level + 1, Index: t.Node.Index >> 1}
	}
}
