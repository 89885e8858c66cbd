package node

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
func (f *FSM) checkpoint(c checkpointed) {
	select {
	case <-f.checks:
	default:
	}
	f.checks <- c
}

// Checkpoint is a state's hash after the log's entry index; index 0 means that there was no checkpoint.
type Checkpoint struct {
	Index  uint64
	Digest []byte
}

// Short is the beginning of the digest, for people.
func (c Checkpoint) Short() []byte { return c.Digest[:min(len(c.Digest), 8)] }

// Checks is what this member has hashed last.
type Checks struct {
	mu   sync.Mutex
	kept []Checkpoint // oldest first
}

func (l *Checks) add(c Checkpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept[max(0, len(l.kept)-checksKept+1):], c)
}

// Last is the newest hash.
func (l *Checks) Last() Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 0 {
		return Checkpoint{}
	}
	return l.kept[len(l.kept)-1]
}

func (l *Checks) at(index uint64) (Checkpoint, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.kept, func(c Checkpoint) bool { return c.Index == index })
	if i < 0 {
		return Checkpoint{}, false
	}
	return l.kept[i], true
}

// Hash hashes this member's state at checkpoints until ctx ends. States do not change, so that the log
// goes on meanwhile.
func (l *Checks) Hash(ctx context.Context, f *FSM) {
	for {
		select {
		case at := <-f.checks:
			digest := at.state.Digest()
			l.add(Checkpoint{at.index, digest[:]})
		case <-ctx.Done():
			return
		}
	}
}

// DivergedFile in the data directory says that its state is not to be believed, and why.
const DivergedFile = "diverged"

// Compare returns an error if this member's state differs from the one on which most agree: what it says would be
// wrong, and so would its snapshots be. It does not start on this data directory again.
func (l *Checks) Compare(agreed Checkpoint, dataDir string) error {
	own, known := l.at(agreed.Index)
	if !known || bytes.Equal(own.Digest, agreed.Digest) {
		return nil
	}
	why := fmt.Errorf("%w: after log entry %d its hash is %x, theirs %x",
		ErrDiverged, agreed.Index, own.Short(), agreed.Short())
	if err := pki.WriteFile(filepath.Join(dataDir, DivergedFile), []byte(why.Error()+"\n"), 0o600); err != nil {
		why = fmt.Errorf("%w (and that is not on disk: %w)", why, err)
	}
	return fmt.Errorf("%w. %s", why, divergedAdvice)
}

const divergedAdvice = "`gram cluster rebuild ADDRESS --data DIR` makes it a new member, which gets everything from " +
	"the others, and keeps its files to look into"

// CheckDiverged refuses a data directory whose state is not to be believed.
func CheckDiverged(dir string) error {
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
