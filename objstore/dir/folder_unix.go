//go:build unix

package dir

import (
	"os"

	"golang.org/x/sys/unix"
)

// toSync is how a file is opened to make it durable; reading will do.
const toSync = os.O_RDONLY

// syncFolder makes the entries of an open folder durable.
func syncFolder(folder *os.File) error { return folder.Sync() }

// removeFolder removes the empty folder name. Unlike os.Root.Remove it never
// removes a file that has meanwhile taken the folder's place.
func removeFolder(parent *os.File, name string) error {
	return unix.Unlinkat(int(parent.Fd()), name, unix.AT_REMOVEDIR)
}
