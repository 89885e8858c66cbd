package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"
)

// restore makes a backup the beginning of this member's log: a snapshot before its first
// entry, as raft leaves one when it cuts the log. The cluster gets an id of its own, so that
// no member of the old one takes it for its own, and tokens of its own.
func (c *Coordinator) restore(ctx context.Context, stores node.Stores) error {
	exists, err := raft.HasExistingState(stores.Log, stores.Stable, stores.Snapshots)
	switch {
	case err != nil:
		return fmt.Errorf("look for an existing log: %w", err)
	case exists:
		return fmt.Errorf("%w: %s holds a log; a backup is restored into an empty data directory only", ErrRestore,
			c.cfg.DataDir)
	}
	backup, err := readBackup(c.cfg.Restore)
	if err != nil {
		return err
	}
	if err := checkOldTokens(c.cfg.DataDir, backup); err != nil {
		return err
	}
	report, err := findObjects(ctx, c.cfg, backup)
	if err != nil {
		return err
	}
	if err := c.claim(ctx, backup.ClusterID); err != nil {
		// the directory is to be empty for the next attempt
		err = errors.Join(err, os.Remove(filepath.Join(c.cfg.DataDir, node.ClaimFile)))
		return fmt.Errorf("%w: %w", ErrRestore, err)
	}
	if err := c.member.Begin(c.cfg.NodeID, stores, backup.Restored()); err != nil {
		return fmt.Errorf("%w: %w", ErrRestore, err)
	}
	c.restored = report
	for _, m := range report.Missing {
		c.cfg.Logger.Error("the backup refers to an object that the store does not hold", "job", m.JobID, "what",
			m.What, "object", m.Name)
	}
	c.cfg.Logger.Info("restored", "from", c.cfg.Restore, "epoch", report.Epoch, "jobs", report.Jobs, "objects",
		report.Objects, "missing", len(report.Missing))
	return nil
}

func readBackup(name string) (state.State, error) {
	file, err := os.Open(name)
	if err != nil {
		return state.State{}, fmt.Errorf("%w: %w", ErrRestore, err)
	}
	defer file.Close()
	backup, err := state.Decode(file)
	if err != nil {
		return state.State{}, fmt.Errorf("%w: %s: %w", ErrRestore, name, err)
	}
	return backup, nil
}

// checkOldTokens refuses a token of the old cluster in the new one's directory: those die with it.
func checkOldTokens(dir string, backup state.State) error {
	kept, err := loadTokens(dir, false)
	if err != nil {
		return err
	}
	for file, id := range map[string]string{AdminTokenFile: kept.admin.ID, WorkerTokenFile: kept.worker.ID} {
		if _, old := backup.Tokens.Get(id); old && id != "" {
			return fmt.Errorf("%w: %s is a token of the old cluster, none of which holds in the new one: remove it, "+
				"and a new one is made", ErrRestore, filepath.Join(dir, file))
		}
	}
	return nil
}

// statsAtOnce is how many objects are looked for at a time.
const statsAtOnce = 32

// findObjects looks for what the backup refers to. What is missing is told, and its job's own affair; a store
// that holds nothing of it, or cannot be read, is the wrong one.
func findObjects(ctx context.Context, cfg Config, backup state.State) (*Restored, error) {
	r := &Restored{Epoch: backup.Epoch + 1, Jobs: backup.JobCount(), Schedules: backup.ScheduleCount()}
	var mu sync.Mutex
	missing := make(map[int]MissingObject)
	looking, ctx := errgroup.WithContext(ctx)
	looking.SetLimit(statsAtOnce)
	backup.EachObject(func(o state.Object) bool {
		key, here := keyOf(cfg, o)
		if !here {
			r.Elsewhere++
			return true
		}
		number := r.Objects
		r.Objects++
		looking.Go(func() error {
			found, err := sizeOf(ctx, cfg.Store, key)
			if err == nil && found != o.Ref.Size {
				mu.Lock()
				defer mu.Unlock()
				missing[number] = MissingObject{JobID: o.JobID, What: o.What, Name: key, Size: o.Ref.Size, Found: found}
			}
			return err
		})
		return ctx.Err() == nil
	})
	if err := looking.Wait(); err != nil {
		return nil, fmt.Errorf("%w: look for the objects it refers to: %w", ErrRestore, err)
	}
	if r.Objects > 0 && len(missing) == r.Objects {
		return nil, fmt.Errorf("%w: of the %d objects that %s refers to, %s holds none: is it the store of the old "+
			"cluster (--store)?", ErrRestore, r.Objects, cfg.Restore, cfg.StoreURI)
	}
	for number := range r.Objects {
		if m, ok := missing[number]; ok {
			r.Missing = append(r.Missing, m)
		}
	}
	return r, nil
}

// keyOf is where in the cluster's store an object lives; here is false for an output elsewhere.
func keyOf(cfg Config, o state.Object) (key string, here bool) {
	if o.URI == "" {
		return protocol.ObjectKey(o.JobID, o.Round, o.Ref.SHA256), true
	}
	key, here = strings.CutPrefix(o.URI, strings.TrimSuffix(cfg.StoreURI, "/")+"/")
	return key, here
}

// sizeOf is -1 for an object that is not there.
func sizeOf(ctx context.Context, store objstore.Store, key string) (int64, error) {
	info, err := store.Stat(ctx, key)
	if errors.Is(err, objstore.ErrNotFound) {
		return -1, nil
	}
	return info.Size, err
}

// ErrRestore: the backup is of no use here.
var ErrRestore = errors.New("cannot restore")

// CheckBackup reads a backup to its end; the error says what is wrong with it.
func CheckBackup(r io.Reader) error {
	_, err := state.Decode(r)
	return err
}
