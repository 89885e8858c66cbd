package node

import (
	"errors"
	"fmt"
)

// ErrDiskFull: there is hardly room left for the log; the process ends while it can still do so in order.
var ErrDiskFull = errors.New("the data directory's disk is nearly full")

// Space is what a file system has, in bytes.
type Space struct{ Free, Size uint64 }

// Low: a leader hands its lead over and takes no new jobs. That is at a tenth of the disk and no more than
// 2 GiB, for the log's bound is far below that; and at 1 GiB where the disk is not a small one.
func (s Space) Low() bool {
	return s.Free < max(min(s.Size/10, 2<<30), min(1<<30, s.Size/4))
}

// Full: the process ends. At 3 %, and no more than 512 MiB.
func (s Space) Full() bool { return s.Free < min(s.Size/100*3, 512<<20) }

func (s Space) String() string {
	return fmt.Sprintf("%d MiB of %d are free", s.Free>>20, s.Size>>20)
}
