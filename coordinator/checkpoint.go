package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// checksKept is how many of its own hashes a member keeps: what most members agree on is
// told it when it may be further already.
const checksKept = 8

// checkpointed is the state after the log's entry index, a checkpoint.
type checkpointed struct {
	index uint64
	state state.State
}

// checkpoint leaves a state to be hashed, in place of one that nobody has got to: after a
// restart many go by. The caller holds f.mu.
func (f *fsm) checkpoint(c checkpointed) {
	select {
	case <-f.checks:
	default:
	}
	f.checks <- c
}

// checked is a state's hash after the log's entry index; index 0 is none.
type checked struct {
	index  uint64
	digest []byte
}

// checkLog is what this member has hashed last.
type checkLog struct {
	mu   sync.Mutex
	kept []checked // oldest first
}

func (l *checkLog) add(c checked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept[max(0, len(l.kept)-checksKept+1):], c)
}

func (l *checkLog) last() checked {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 0 {
		return checked{}
	}
	return l.kept[len(l.kept)-1]
}

func (l *checkLog) at(index uint64) (checked, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.kept, func(c checked) bool { return c.index == index })
	if i < 0 {
		return checked{}, false
	}
	return l.kept[i], true
}

// hashCheckpoints hashes this member's state at checkpoints. States do not change, so that the log
// goes on meanwhile.
func (c *Coordinator) hashCheckpoints(ctx context.Context) {
	for {
		select {
		case at := <-c.fsm.checks:
			digest := at.state.Digest()
			c.checks.add(checked{at.index, digest[:]})
		case <-ctx.Done():
			return
		}
	}
}

// DivergedFile in the data directory says that its state is not to be believed, and why.
const DivergedFile = "diverged"

// heed ends this member if its state differs from the one on which most agree: what it says would be
// wrong, and so would its snapshots be. It does not start on this data directory again.
func (c *Coordinator) heed(agreed checked) {
	own, known := c.checks.at(agreed.index)
	if !known || bytes.Equal(own.digest, agreed.digest) {
		return
	}
	why := fmt.Errorf("%w: after log entry %d its hash is %x, theirs %x", ErrDiverged, agreed.index, short(own.digest), short(agreed.digest))
	if err := pki.WriteFile(filepath.Join(c.cfg.DataDir, DivergedFile), []byte(why.Error()+"\n"), 0o600); err != nil {
		why = fmt.Errorf("%w (and that is not on disk: %w)", why, err)
	}
	c.fail(fmt.Errorf("%w. %s", why, divergedAdvice))
}

const divergedAdvice = "`gram cluster rebuild ADDRESS --data DIR` makes it a new member, which gets everything from the others, and keeps its files to look into"

// checkDiverged refuses a data directory whose state is not to be believed.
func checkDiverged(dir string) error {
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, DivergedFile)
	why, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", DivergedFile, err)
	}
	return fmt.Errorf("%w: %s says: %s. %s", ErrDamaged, file, bytes.TrimSpace(why), divergedAdvice)
}

// checkpoints compares the members' states, and lets them be hashed anew when the log has gone on far enough, or enough time has
// passed: a quiet cluster would otherwise not notice for hours that a member differs.
func (c *Coordinator) checkpoints(lead *leadership, servers []raft.Server) {
	own := c.checks.last()
	lead.table.note(raft.ServerID(c.cfg.NodeID), own)
	for _, finding := range lead.table.judge(voters(servers)) {
		c.cfg.Logger.Error("the members' states differ", "finding", finding, "term", lead.term)
	}
	c.heed(lead.table.agreement())
	if !lead.table.due(c.fsm.appliedIndex(), own.index, c.cfg.CheckpointEvery, c.now(), c.cfg.checkpointAfter) {
		return
	}
	if _, err := c.propose(lead.ctx, &pb.Command{Body: &pb.Command_Checkpoint{Checkpoint: &pb.Checkpoint{}}}); err != nil {
		if lead.ctx.Err() == nil {
			c.cfg.Logger.Warn("no checkpoint made yet; trying again", "error", err)
		}
		return
	}
	lead.table.propose(c.fsm.appliedIndex(), c.now())
}

func voters(servers []raft.Server) (ids []raft.ServerID) {
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
