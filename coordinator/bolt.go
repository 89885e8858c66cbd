package coordinator

import (
	"time"

	"go.etcd.io/bbolt"
)

// lockWait is how long to wait for another process to let go of the log.
const lockWait = 2 * time.Second

// boltOptions keep the free list out of every commit: it is rebuilt at open, and
// writing it made appends slow in large files.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: lockWait}
}
