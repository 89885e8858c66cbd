package nemesis

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// scratchSize is that of the file system that fills up.
const scratchSize = 64 << 10

// fillScratch puts a full file system in the place of a worker's temporary directory.
func (n *Nemesis) fillScratch(f Fault) (func() error, error) {
	w := n.worker(f)
	if os.Geteuid() != 0 {
		return nil, errors.New("a file system of its own takes root")
	}
	if err := unix.Mount("tmpfs", w.Scratch, "tmpfs", 0, fmt.Sprintf("size=%d", scratchSize)); err != nil {
		return nil, fmt.Errorf("mount a small file system: %w", err)
	}
	n.Say("%v (%s)", f, w.Name)
	heal := func() error { return unix.Unmount(w.Scratch, unix.MNT_DETACH) }
	err := os.WriteFile(filepath.Join(w.Scratch, "full"), make([]byte, 2*scratchSize), 0o600)
	if !errors.Is(err, unix.ENOSPC) {
		return nil, errors.Join(fmt.Errorf("the small file system took twice its size: %w", err), heal())
	}
	return heal, nil
}
