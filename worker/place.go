package worker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// place is the leaf that is being mapped and the shards it has begun to read: where to look for the
// record that a task cannot take.
type place struct {
	leaf   int
	shards []string
}

// maxShardsTold bounds how many shards a place names; a leaf that reads more names the last.
const maxShardsTold = 3

func (p place) String() string {
	shards := p.shards[max(0, len(p.shards)-maxShardsTold):]
	if len(shards) == 0 {
		return fmt.Sprintf("leaf %d", p.leaf)
	}
	return fmt.Sprintf("leaf %d, reading %s", p.leaf, strings.Join(shards, ", then "))
}

// shardText names a shard by the objects and bytes it covers, as they are stored.
func (in *input) shardText(shard int) string {
	if shard < 0 || shard >= len(in.shards) || len(in.shards[shard].Pieces) == 0 {
		return fmt.Sprintf("shard %d", shard)
	}
	pieces := in.shards[shard].Pieces
	first := pieces[0]
	text := fmt.Sprintf("shard %d (%s bytes %d-%d", shard, in.manifest.Objects[first.Object].Key, first.Start,
		first.End)
	if more := len(pieces) - 1; more > 0 {
		text += fmt.Sprintf(" and %d pieces more", more)
	}
	return text + ")"
}

// placed says where a fault of the task happened that has no position of its own. Faults of the input
// have one, and faults of the world have none.
func (n *nodeTask) placed(err error) error {
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		return fmt.Errorf("%v: %w", n.at, err)
	}
	if fault.Class != protocol.ClassTask || fault.Object != "" {
		return err
	}
	told := *fault
	told.What = fmt.Sprintf("%v: %s", n.at, fault.What)
	return &told
}

// placePanic says in which leaf and shard the code panicked, and lets the panic go on.
func (n *nodeTask) placePanic() {
	if cause := recover(); cause != nil {
		panic(fmt.Sprintf("%v: %v", n.at, cause))
	}
}
