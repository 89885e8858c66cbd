package clustertest

import (
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
)

// directory keeps input and job objects in directories.
func directory(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	return place{
		name: "dir", root: "file://" + root,
		store:    func(t *testing.T) objstore.Store { return openDirectory(t, root) },
		jobStore: func(t *testing.T) string { return "file://" + t.TempDir() },
	}
}

// memory keeps job objects in memory; the input is a file, for memory cannot be
// filled from another process.
func memory(t *testing.T) place {
	p := directory(t)
	p.name = "mem"
	p.jobStore = func(*testing.T) string { return "mem://work" }
	return p
}

func openDirectory(t *testing.T, root string) objstore.Store {
	t.Helper()
	store, err := dir.Open(root, dir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
