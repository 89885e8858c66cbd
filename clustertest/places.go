package clustertest

import (
	"path"
	"testing"

	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// place is somewhere that objects can live.
type place struct {
	name     string
	env      []string
	root     string         // URI
	killed   *kernelops.Set // of the workers of which one is killed
	store    func(t *testing.T) objstore.Store
	jobStore func(t *testing.T) string
}

// inputs stores what a case reads.
func (p place) inputs(t *testing.T, c Case, name string, objects map[string][]byte) Inputs {
	t.Helper()
	in := Inputs{Input: p.put(t, name, objects)}
	if c.Queries != nil {
		in.Queries = p.put(t, name+"-queries", c.Queries)
	}
	if c.Model != nil {
		in.Model = p.put(t, name+"-model", map[string][]byte{"model.safetensors": c.Model}) + "model.safetensors"
	}
	return in
}

// put stores a data set and returns its prefix as a URI.
func (p place) put(t *testing.T, name string, objects map[string][]byte) string {
	t.Helper()
	store := p.store(t)
	for key, data := range objects {
		if _, err := store.Put(t.Context(), path.Join("in", name, key), data); err != nil {
			t.Fatal(err)
		}
	}
	return p.root + "/in/" + name + "/"
}

func s3Place(t *testing.T, program s3server.Program) place {
	server := s3server.Start(t, s3server.Options{Program: program})
	bucket := server.Open(t, "matrix")
	return place{
		name: program.String(), env: server.Env(), root: "s3://matrix", killed: kernelops.Generic(),
		store:    func(*testing.T) objstore.Store { return bucket },
		jobStore: func(*testing.T) string { return "s3://matrix/work" },
	}
}

// directory keeps input and job objects in directories.
func directory(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	return place{
		name: "dir", root: "file://" + root, killed: kernelops.Best(),
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
