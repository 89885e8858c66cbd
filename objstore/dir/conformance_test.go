package dir_test

import (
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/objstore/objstoretest"
)

func open(t testing.TB, path string, opt dir.Options) *dir.Store {
	t.Helper()
	s, err := dir.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	objstoretest.Run(t, func(t *testing.T) objstore.Store { return open(t, t.TempDir(), dir.Options{}) })
}

// A store that does not wait for the disk behaves the same while its process lives.
func TestConformanceEphemeral(t *testing.T) {
	objstoretest.Run(t, func(t *testing.T) objstore.Store { return open(t, t.TempDir(), dir.Options{Ephemeral: true}) })
}

// Neither does one that waits for it later.
func TestConformanceDeferred(t *testing.T) {
	objstoretest.Run(t, func(t *testing.T) objstore.Store { return open(t, t.TempDir(), dir.Options{Deferred: true}) })
}
