package lead

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// checkTable is the leader's memory of what the members have hashed at checkpoints.
type checkTable struct {
	mu         sync.Mutex
	told       map[raft.ServerID]node.Checkpoint // the last of each
	agreed     node.Checkpoint                   // the last on which most voters agree
	by         []string                          // those who do, sorted
	noted      map[raft.ServerID]uint64          // the checkpoint at which a member was found to differ
	mismatches uint64
	last       uint64 // the last checkpoint proposed is at or before this entry
	since      time.Duration
	timed      bool // since is the time of the last checkpoint, or of this leader's first look
}

// note takes a member's last hash into account.
func (t *checkTable) note(id raft.ServerID, c node.Checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told == nil {
		t.told, t.noted = make(map[raft.ServerID]node.Checkpoint), make(map[raft.ServerID]uint64)
	}
	if c.Index > 0 {
		t.told[id] = c
	}
}

// judge looks for a checkpoint on which most voters agree, and says once of each voter that it
// differs from them, or of all that there is no such majority.
func (t *checkTable) judge(voters []raft.ServerID) (findings []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(voters)
	everybody := true // has told of the same checkpoint
	for _, id := range voters {
		told := t.told[id]
		everybody = everybody && told.Index > 0 && told.Index == t.told[voters[0]].Index
		if agree := t.agreeing(voters, told); len(agree) > len(voters)/2 && told.Index >= t.agreed.Index {
			t.agreed, t.by = told, agree
		}
	}
	for _, id := range voters {
		told := t.told[id]
		differs := told.Index == t.agreed.Index && !bytes.Equal(told.Digest, t.agreed.Digest)
		if !differs && !(everybody && told.Index > t.agreed.Index) || t.noted[id] == told.Index {
			continue
		}
		t.noted[id] = told.Index
		t.mismatches++
		findings = append(findings, fmt.Sprintf("after log entry %d member %s has hash %x; members %v agree, after "+
			"entry %d on %x",
			told.Index, id, told.Short(), t.by, t.agreed.Index, t.agreed.Short()))
	}
	return findings
}

// agreeing are the voters whose last hash is c.
func (t *checkTable) agreeing(voters []raft.ServerID, c node.Checkpoint) (ids []string) {
	for _, id := range voters {
		if told := t.told[id]; c.Index > 0 && told.Index == c.Index && bytes.Equal(told.Digest, c.Digest) {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// agreement is the last checkpoint on which most voters agree.
func (t *checkTable) agreement() node.Checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.agreed
}

// due reports whether it is time for a checkpoint: every entries after the last one, made by this leader or one before
// it with own, or some time after it. The time of an earlier leader's is not known; it counts as made when this one
// looked first.
func (t *checkTable) due(applied, own, every uint64, now, after time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.timed {
		t.since, t.timed = now, true
	}
	return applied >= max(t.last, own)+every || now-t.since >= after
}

func (t *checkTable) propose(index uint64, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.since, t.timed = index, now, true
}

// differing counts how often a member was found to differ.
func (t *checkTable) differing() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mismatches
}

// describe adds what people are told.
func (t *checkTable) describe(res *pb.StatusResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	res.CheckpointIndex, res.CheckpointAgreed, res.CheckpointMismatches = t.agreed.Index, slices.Clone(t.by),
		t.mismatches
}
