package dir

import (
	"io/fs"
	"syscall"
)

// identity gives a file's inode and the time of its last change, in nanoseconds.
func identity(fi fs.FileInfo) (inode uint64, ctime int64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Ino, st.Ctim.Nano()
}
