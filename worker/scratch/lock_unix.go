//go:build unix && !solaris && !aix

package scratch

import (
	"os"
	"syscall"
)

// tryLock locks a directory until it is closed or the process ends. It fails where another has locked it.
func tryLock(dir *os.File) error {
	return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
