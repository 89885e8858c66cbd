package state

import (
	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

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
