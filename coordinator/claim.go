package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/objstore"
)

// ownerFirst is how long a start waits for the store to say whose it is.
const ownerFirst = 5 * time.Second

// claimID reads the id of the cluster that this data directory begins, or draws one.
func claimID(dir string) (string, error) {
	file := filepath.Join(dir, node.ClaimFile)
	text, err := os.ReadFile(file)
	if id := strings.TrimSpace(string(text)); id != "" || err != nil && !errors.Is(err, os.ErrNotExist) {
		return id, err
	}
	id := uuid.NewString()
	if err := pki.WriteFile(file, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", node.ClaimFile, node.DiskError(err))
	}
	return id, nil
}

// claim makes the store that of the cluster which this member begins, or refuses another's. of is the cluster whose
// backup it begins with. A cluster in memory lasts no longer than its process, and claims nothing.
func (c *Coordinator) claim(ctx context.Context, of string) error {
	if c.cfg.DataDir == "" {
		return nil
	}
	id, err := claimID(c.cfg.DataDir)
	if err != nil {
		return err
	}
	if err := objstore.TakeOver(ctx, c.cfg.Store, id, of); err != nil {
		return c.ownerError(err)
	}
	return nil
}

func (c *Coordinator) ownerError(err error) error {
	if !errors.Is(err, objstore.ErrOwned) {
		return fmt.Errorf("whose is the store %s?: %w", c.cfg.StoreURI, err)
	}
	return fmt.Errorf("%w. Two clusters need two prefixes: start this one with another --store. If that cluster is "+
		"gone for good, delete the object %s of %s first",
		err, objstore.OwnerKey, c.cfg.StoreURI)
}

// checkOwner refuses a store that belongs to another cluster than the one of this member's log, and claims one of an
// earlier version's, where nobody did. A store that does not answer keeps no member from starting: it is asked until it
// does.
func (c *Coordinator) checkOwner(ctx context.Context, id string) (later bool, err error) {
	asking, cancel := context.WithTimeout(ctx, ownerFirst)
	defer cancel()
	switch err := objstore.Own(asking, c.cfg.Store, id); {
	case errors.Is(err, objstore.ErrOwned):
		return false, c.ownerError(err)
	case err != nil:
		c.cfg.Logger.Warn("the store does not say yet whose it is; asking again", "store", c.cfg.StoreURI, "error", err)
		return true, nil
	}
	return false, nil
}

// watchOwner asks until the store has said whose it is, where it has not yet.
func (c *Coordinator) watchOwner(ctx context.Context) {
	if !c.askOwner {
		return
	}
	id := c.clusterID()
	retry := time.NewTicker(lead.RetryDelay)
	defer retry.Stop()
	for {
		select {
		case <-retry.C:
		case <-ctx.Done():
			return
		}
		switch err := objstore.Own(ctx, c.cfg.Store, id); {
		case err == nil:
			return
		case errors.Is(err, objstore.ErrOwned):
			c.fail(c.ownerError(err))
			return
		}
	}
}

// claimed is the id that the store must say, "" for a cluster in memory.
func (c *Coordinator) claimed() string {
	if c.cfg.DataDir == "" {
		return ""
	}
	return c.clusterID()
}
