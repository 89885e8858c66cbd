// Package objects reads objects with the rights and the credentials of this process, with a cluster or
// without one.
package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/stores"
)

// Open opens a store with all the rights of this process: its owner named it.
func Open(ctx context.Context, uri string) (objstore.Store, error) {
	return OpenAnywhere(ctx, uri, false)
}

// Here opens the stores of a job that runs in this process alone. Nothing of it waits for the disk while it runs: the
// folder of its own store is removed before the process ends, and nobody relies on its outputs before Sync.
type Here struct {
	own    string // URI of the job's own store
	mu     sync.Mutex
	opened []objstore.Store
}

// NewHere is for a job whose own store is the folder at uri.
func NewHere(uri string) *Here { return &Here{own: uri} }

// Open is Open, without writes that wait.
func (h *Here) Open(ctx context.Context, uri string) (objstore.Store, error) {
	if uri == h.own {
		return open(ctx, uri, stores.Config{Ephemeral: true})
	}
	store, err := open(ctx, uri, stores.Config{Deferred: true})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, store)
	return store, nil
}

// Sync makes durable what was written to folders other than the job's own.
func (h *Here) Sync(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, store := range h.opened {
		if deferred, ok := store.(interface{ Sync(context.Context) error }); ok {
			if err := deferred.Sync(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// OpenAnywhere allows the folder itself as its own root; symbolic links in it do not lead out.
func OpenAnywhere(ctx context.Context, uri string, readOnly bool) (objstore.Store, error) {
	return open(ctx, uri, stores.Config{ReadOnly: readOnly})
}

func open(ctx context.Context, uri string, cfg stores.Config) (objstore.Store, error) {
	if path, isFile := strings.CutPrefix(uri, "file://"); isFile {
		path = filepath.FromSlash(path)
		cfg.FileRoots = []string{path}
		if !cfg.ReadOnly { // the store opens a root, and does not make one
			if err := os.MkdirAll(path, 0o777); err != nil {
				return nil, err
			}
		}
	}
	return stores.Open(ctx, uri, cfg)
}

// OpenInput opens what is only read; a folder that is not there is not made.
func OpenInput(ctx context.Context, uri string) (objstore.Store, error) {
	return OpenAnywhere(ctx, uri, true)
}

// Read reads one object with this process's own rights and credentials. Unless want
// is "", it refuses bytes of another SHA-256.
func Read(ctx context.Context, uri string, limit int64, want string) ([]byte, error) {
	storeURI, key, err := objstore.SplitObjectURI(uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	store, err := OpenAnywhere(ctx, storeURI, true)
	if err != nil {
		return nil, err
	}
	data, _, err := objstore.ReadAll(ctx, store, key, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, err
	}
	if got := Digest(data); want != "" && got != want {
		return nil, &exit.Failure{Code: exit.Failed, What: uri + " is not the object that the job made",
			Why: fmt.Errorf("its SHA-256 is %s, the job's is %s", got, want)}
	}
	return data, nil
}

// Digest returns the SHA-256 in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ReadKey reads an object of at most limit bytes and compares it with a SHA-256, unless that is "".
func ReadKey(ctx context.Context, store objstore.Store, key string, limit int64, want string) ([]byte, error) {
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s/%s: %w", store, key, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s/%s has more than %d bytes", store, key, limit)
	}
	if sum := sha256.Sum256(data); want != "" && hex.EncodeToString(sum[:]) != want {
		return nil, fmt.Errorf("%s/%s has other bytes than the job's end record says (SHA-256 %x, not %s)", store, key,
			sum, want)
	}
	return data, nil
}
