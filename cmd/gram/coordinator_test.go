package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// The store is below the data directory and made before the rest of it.
func TestCoordinatorDataIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	c, dir := clientOf(t, &backend{}), filepath.Join(t.TempDir(), "data")
	c.want(exit.Failed, c.run("coordinator", "--data", dir, "--listen", "127.0.0.1:99999"))
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "store")); err != nil {
		t.Error(err)
	}
}

func TestBootstrapGoesWithJoin(t *testing.T) {
	t.Parallel()
	c, dir := clientOf(t, &backend{}), filepath.Join(t.TempDir(), "data")
	c.want(exit.Usage, c.run("coordinator", "--data", dir, "--bootstrap", "c1.example:7481"))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it began: %v", err)
	}
}

func TestAddressesAreHostAndPort(t *testing.T) {
	t.Parallel()
	c, dir := clientOf(t, &backend{}), filepath.Join(t.TempDir(), "data")
	for _, flag := range []string{"--listen", "--raft", "--advertise"} {
		c.want(exit.Usage, c.run("coordinator", "--data", dir, flag, "0.0.0.0"))
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it began: %v", err)
	}
}
