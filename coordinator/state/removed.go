package state

import (
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// maxMemberID bounds a coordinator's id, in bytes.
const maxMemberID = 128

// Removed reports whether a coordinator of this id was taken out of the cluster: none joins under it again.
func (s State) Removed(id string) bool {
	_, removed := s.removed.Get([]byte(id))
	return removed
}

// applyRemoveMember keeps the id of a member that is taken out; one that is kept already stays as it
// is. Of more than MaxRemoved the oldest is forgotten.
func applyRemoveMember(s State, cmd *pb.RemoveMember) (State, Reply) {
	id := cmd.GetId()
	if id == "" || len(id) > maxMemberID {
		return s, reject(Malformed, "a member's id has 1 to %d bytes", maxMemberID)
	}
	if s.Removed(id) {
		return s, Reply{}
	}
	oldest, first, last := "", uint64(0), uint64(0)
	s.removed.Root().Walk(func(key []byte, number uint64) bool {
		if oldest == "" || number < first {
			oldest, first = string(key), number
		}
		last = max(last, number)
		return false
	})
	if s.removed.Len() >= MaxRemoved {
		s.removed, _, _ = s.removed.Delete([]byte(oldest))
	}
	s.removed, _, _ = s.removed.Insert([]byte(id), last+1)
	return s, Reply{}
}

func (o *recordWriter) writeRemoved(s State) {
	s.removed.Root().Walk(func(id []byte, number uint64) bool {
		o.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_RemovedMember{RemovedMember: &pb.RemovedMember{Id: string(
			id), Number: number}}})
		return o.err != nil
	})
}
