//go:build !unix

package dir

import (
	"errors"
	"os"
)

// syncFolder: folders cannot be synced here; the file system's journal must do.
func syncFolder(*os.File) error { return nil }

// removeFolder leaves empty folders where there is no way to remove them safely.
func removeFolder(*os.File, string) error { return errors.ErrUnsupported }
