package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/stores"
	"github.com/gram-compute/gram/worker"
)

// openOwn opens a store with all the rights of this process: its owner named it.
func openOwn(ctx context.Context, uri string) (objstore.Store, error) {
	return openAnywhere(ctx, uri, false)
}

// openAnywhere allows the folder itself as its own root; symbolic links in it do not lead out.
func openAnywhere(ctx context.Context, uri string, readOnly bool) (objstore.Store, error) {
	cfg := stores.Config{ReadOnly: readOnly}
	if path, isFile := strings.CutPrefix(uri, "file://"); isFile {
		path = filepath.FromSlash(path)
		cfg.FileRoots = []string{path}
		if !readOnly { // the store opens a root, and does not make one
			if err := os.MkdirAll(path, 0o777); err != nil {
				return nil, err
			}
		}
	}
	return stores.Open(ctx, uri, cfg)
}

// openOwnInput opens what is only read; a folder that is not there is not made.
func openOwnInput(ctx context.Context, uri string) (objstore.Store, error) {
	return openAnywhere(ctx, uri, true)
}

// openWithin lets a worker open the stores that jobs name: S3, and folders below
// the roots. The root "/" is every folder.
func openWithin(roots []string, cfg *worker.Config) error {
	absolute := make([]string, len(roots))
	for i, root := range roots {
		var err error
		if absolute[i], err = filepath.Abs(root); err != nil {
			return fmt.Errorf("--file-root %s: %w", root, err)
		}
	}
	if slices.Contains(absolute, string(filepath.Separator)) {
		cfg.OpenStore, cfg.OpenInput = openOwn, openOwnInput
		return nil
	}
	within := func(readOnly bool) func(context.Context, string) (objstore.Store, error) {
		return func(ctx context.Context, uri string) (objstore.Store, error) {
			return stores.Open(ctx, uri, stores.Config{FileRoots: absolute, ReadOnly: readOnly})
		}
	}
	cfg.OpenStore, cfg.OpenInput = within(false), within(true)
	return nil
}

// storeURI is a store as a person names it; a path counts from the working directory.
func (a *app) storeURI(uri string) string {
	return strings.TrimSuffix(specfile.AbsoluteURI(uri, a.dir), "/")
}
