//go:build unix

package coordinator

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeSpace asks the file system that holds dir; free is what this user may take.
func freeSpace(dir string) (space, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return space{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	block := uint64(fs.Bsize)
	return space{free: uint64(fs.Bavail) * block, size: fs.Blocks * block}, nil
}
