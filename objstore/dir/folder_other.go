//go:build !unix

package dir

import (
	"errors"
	"os"
)

// toSync is how a file is opened to make it durable.
const toSync = os.O_RDWR

// syncFolder: folders cannot be synced here; the file system's journal must do.
func syncFolder(*os.File) error { return nil }

// removeFolder leaves empty folders where there is no way to remove them safely.
func removeFolder(*os.File, string) error { return errors.ErrUnsupported }
