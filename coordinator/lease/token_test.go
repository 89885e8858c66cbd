package lease

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A token covers the nodes below the one it was granted for, those above and beside it not, and no other worker.
func TestWhatATokenCovers(t *testing.T) {
	secret := []byte(strings.Repeat("s", 32))
	at := func(level, index int) schedule.Task {
		return schedule.Task{JobID: "a", Round: 3, Kind: pb.TaskKind_TASK_KIND_NODE, Tree: 1,
			Node: protocol.Node{Level: level, Index: index}}
	}
	token := schedule.Token{Term: 2, Sequence: 7, Epoch: 1}
	var leaves [sha256.Size]byte
	granted := func(secret []byte, workerID string, h schedule.Held, mac []byte) bool {
		basis, ok := Authentic(secret, workerID, h, mac)
		if basis != leaves {
			t.Errorf("%v: made from %x", h.Task, basis)
		}
		return ok
	}
	mac := MAC(secret, "w", at(2, 3), token, leaves) // leaves 12 to 15
	for _, c := range []struct {
		level, index int
		want         bool
	}{{2, 3, true}, {1, 6, true}, {1, 7, true}, {0, 12, true}, {0, 15, true}, {0, 11, false}, {0, 16, false},
		{1, 5, false}, {3, 1, false}, {2, 2, false}} {
		if got := granted(secret, "w", schedule.Held{Task: at(c.level, c.index), Token: token}, mac); got != c.want {
			t.Errorf("node %d/%d: %v", c.level, c.index, got)
		}
	}
	changes := map[string]func(h *schedule.Held){
		"job":      func(h *schedule.Held) { h.Task.JobID = "b" },
		"round":    func(h *schedule.Held) { h.Task.Round++ },
		"kind":     func(h *schedule.Held) { h.Task.Kind = pb.TaskKind_TASK_KIND_STEP },
		"tree":     func(h *schedule.Held) { h.Task.Tree = 0 },
		"change":   func(h *schedule.Held) { h.Task.Changes++ },
		"term":     func(h *schedule.Held) { h.Token.Term++ },
		"sequence": func(h *schedule.Held) { h.Token.Sequence++ },
		"epoch":    func(h *schedule.Held) { h.Token.Epoch++ },
		"set":      func(h *schedule.Held) { h.Task.Again = true },
	}
	for name, change := range changes { //lint:ordered each is tried by itself
		h := schedule.Held{Task: at(2, 3), Token: token}
		if change(&h); granted(secret, "w", h, mac) {
			t.Errorf("it holds with another %s", name)
		}
	}
	again := at(2, 3)
	again.Again = true
	held, second := schedule.Held{Task: at(2, 3), Token: token}, MAC(secret, "w", again, token, leaves)
	if granted(secret, "w", held, second) || !granted(secret, "w", schedule.Held{Task: again, Token: token}, second) {
		t.Error("a task that is made again has the token of the first time")
	}
	elsewhere, without := []byte(strings.Repeat("t", 32)), MAC(nil, "w", at(2, 3), token, leaves)
	if granted(secret, "v", held, mac) || granted(elsewhere, "w", held, mac) ||
		granted(nil, "w", held, without) || granted(secret, "w", held, nil) {
		t.Error("it holds for another worker, another cluster, without a secret or without a code")
	}
}

// The token of a lease that names pieces tells which, and covers that node alone.
func TestATokenTellsWhatANodeIsFoldedFrom(t *testing.T) {
	secret := []byte(strings.Repeat("s", 32))
	held := schedule.Held{
		Task: schedule.Task{JobID: "a", Round: 3, Kind: pb.TaskKind_TASK_KIND_NODE,
			Node: protocol.Node{Level: 1, Index: 2}},
		Token: schedule.Token{Term: 2, Sequence: 7},
	}
	pieces := state.Basis([]state.Commit{{Node: protocol.Node{Index: 4}}, {Node: protocol.Node{Index: 5}}})
	mac := MAC(secret, "w", held.Task, held.Token, pieces)
	if basis, ok := Authentic(secret, "w", held, mac); !ok || basis != pieces {
		t.Errorf("%x, %v", basis, ok)
	}
	below := held
	below.Task.Node = protocol.Node{Index: 4}
	other := bytes.Clone(mac)
	other[macBytes] ^= 1
	leaves := MAC(secret, "w", held.Task, held.Token, [sha256.Size]byte{})
	for name, c := range map[string]struct {
		held schedule.Held
		mac  []byte
	}{
		"a leaf below":           {below, mac},
		"other pieces":           {held, other},
		"its leaves":             {held, mac[:macBytes]},
		"a part of the pieces":   {held, mac[:len(mac)-1]},
		"pieces of a leaf lease": {held, append(leaves, pieces[:]...)},
	} {
		if _, ok := Authentic(secret, "w", c.held, c.mac); ok {
			t.Errorf("it holds for %s", name)
		}
	}
}
