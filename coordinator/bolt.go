package coordinator

import "go.etcd.io/bbolt"

// boltOptions keep the free list out of every commit: it is rebuilt at open, and
// writing it made appends slow in large files.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}
}
