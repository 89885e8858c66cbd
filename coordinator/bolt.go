package coordinator

import (
	"fmt"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// lockWait is how long to wait for another process to let go of the log.
const lockWait = 2 * time.Second

// boltOptions keep the free list out of every commit: it is rebuilt at open, and
// writing it made appends slow in large files.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: lockWait}
}

func openBolt(file string) (*raftboltdb.BoltStore, error) {
	store, err := raftboltdb.New(raftboltdb.Options{Path: file, BoltOptions: boltOptions()})
	if err != nil {
		return nil, fmt.Errorf("open raft log %s: %w", file, err)
	}
	return store, nil
}
