package state

import (
	iradix "github.com/hashicorp/go-immutable-radix/v2"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// applyInit gives the cluster its id, which stays.
func applyInit(s State, cmd *pb.InitCluster) (State, Reply) {
	switch id := cmd.GetClusterId(); {
	case id == "":
		return s, reject(Malformed, "a cluster id must not be empty")
	case s.ClusterID != "" && s.ClusterID != id:
		return s, reject(Conflict, "this cluster is %s already", s.ClusterID)
	default:
		s.ClusterID = id
		return keepSecret(s, cmd.GetSecret()), Reply{}
	}
}

// The bytes of a cluster's secret.
const (
	minSecret = 32
	maxSecret = 64
)

func validSecret(secret []byte) bool { return len(secret) >= minSecret && len(secret) <= maxSecret }

func applySetSecret(s State, cmd *pb.SetSecret) (State, Reply) {
	if !validSecret(cmd.GetSecret()) {
		return s, reject(Malformed, "a cluster's secret has %d to %d bytes, not %d",
			minSecret, maxSecret, len(cmd.GetSecret()))
	}
	return keepSecret(s, cmd.GetSecret()), Reply{}
}

// keepSecret takes the first secret that a cluster is given: tokens and draws hang on it.
func keepSecret(s State, secret []byte) State {
	if len(s.Secret) == 0 && validSecret(secret) {
		s.Secret = secret
	}
	return s
}

// Restored is what a new cluster begins with that is made of a backup of s: all that was decided, in the next epoch.
// The leases of the old epoch count for nothing, its tokens and its members are forgotten, and no tick is
// decided until an operator releases the schedules: the old cluster may have gone on after the backup.
func (s State) Restored() State {
	s.ClusterID, s.Secret = "", nil
	s.Epoch++
	s.HeldSince = max(s.Now, 1)
	s.Tokens, s.removed = newTokens(), iradix.New[uint64]()
	return s
}

// Held reports whether no tick is decided since a restore.
func (s State) Held() bool { return s.HeldSince != 0 }

// applyRelease lets ticks be decided again; Created tells whether they were held.
func applyRelease(s State) (State, Reply) {
	reply := Reply{Created: s.Held()}
	s.HeldSince = 0
	return s, reply
}

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
