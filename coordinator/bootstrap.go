package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/objstore"
)

const (
	// beganKey names the object in the cluster's store that says which data directory began it.
	beganKey  = "cluster/began"
	beganSize = 64 // more than the word has
)

// begins decides whether the member that Config.Bootstrap names begins the cluster rather
// than join it: it does once in a store's life, so that one that lost its disk does not make a second
// cluster while the others are away. Only this member asks, so reading and then writing is enough; a
// crash between the two steps is made good at the next start.
func (c *Coordinator) begins(ctx context.Context) (bool, error) {
	if c.cfg.Bootstrap == "" || c.cfg.Bootstrap != string(c.member.Address) {
		return false, nil
	}
	word, err := beganWord(c.cfg.DataDir)
	if err != nil {
		return false, err
	}
	told, err := readBegan(ctx, c.cfg.Store)
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		if _, err := c.cfg.Store.Put(ctx, beganKey, []byte(word)); err != nil {
			return false, fmt.Errorf("begin a cluster: %w", err)
		}
		c.cfg.Logger.Info("this member begins the cluster", "store", c.cfg.StoreURI)
		return true, nil
	case err != nil:
		return false, fmt.Errorf("has a cluster begun with this store?: %w", err)
	}
	if told != word {
		c.cfg.Logger.Warn("a cluster has begun with this store on another disk than this one: joining it", "store",
			c.cfg.StoreURI, "object", beganKey)
	}
	return told == word, nil
}

// beganWord reads the data directory's word, or draws one.
func beganWord(dir string) (string, error) {
	file := filepath.Join(dir, node.BeganFile)
	text, err := os.ReadFile(file)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return strings.TrimSpace(string(text)), err
	}
	word := node.RandomHex() + node.RandomHex()
	if err := pki.WriteFile(file, []byte(word+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", node.BeganFile, node.DiskError(err))
	}
	return word, nil
}

func readBegan(ctx context.Context, store objstore.Store) (string, error) {
	object, _, err := store.Get(ctx, beganKey, objstore.GetOptions{})
	if err != nil {
		return "", err
	}
	defer object.Close()
	text, err := io.ReadAll(io.LimitReader(object, beganSize))
	return strings.TrimSpace(string(text)), err
}
