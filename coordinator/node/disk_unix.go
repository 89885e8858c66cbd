//go:build unix

package node

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FreeSpace asks the file system that holds dir; free is what this user may take.
func FreeSpace(dir string) (Space, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return Space{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	block := uint64(fs.Bsize)
	return Space{Free: uint64(fs.Bavail) * block, Size: fs.Blocks * block}, nil
}
