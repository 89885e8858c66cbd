// Package logstore checks what a raft member keeps on disk: every page of the log's file, every entry, the
// term and the vote, and the snapshots.
//
// The file is bbolt's (Bolt). bbolt itself protects only its two meta pages, and panics on most
// other damage, in a goroutine of its own where nobody can recover. So Pages reads the file before bbolt opens it for
// writing, and proves its structure; Checked gives each entry and each stable value a CRC-32C. Together they leave no
// bit that is in use unchecked: a flipped bit is either found at the start, or lies in a page or a gap that nothing
// refers to.
package logstore

import (
	"errors"

	"github.com/hashicorp/raft"
)

// ErrDamaged: bytes on the disk are not those that were written.
var ErrDamaged = errors.New("damaged")

// Store is what raft keeps in the log's file.
type Store interface {
	raft.LogStore
	raft.StableStore
}

// markKey's value says that every entry and value in the file carries a checksum.
const markKey = "gram-checksums"

var stableKeys = []string{"CurrentTerm", "LastVoteTerm", "LastVoteCand", markKey}
