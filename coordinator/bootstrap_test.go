package coordinator

import (
	"context"
	"errors"
	"testing"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/hashicorp/raft"
)

// deaf is a store that takes nothing, as one that goes away between two calls.
type deaf struct{ objstore.Store }

func (deaf) Put(context.Context, string, []byte) (objstore.Info, error) {
	return objstore.Info{}, objstore.ErrUnavailable
}

// Who begins a cluster: the member that is named, once in the life of a store, on that disk, also
// when it stopped half-way; where the store cannot tell, nobody.
func TestBegins(t *testing.T) {
	t.Parallel()
	const first, second = "c1.example:7481", "c2.example:7481"
	store := mem.New("work")
	asks := func(store objstore.Store, dir, bootstrap, address string) (bool, error) {
		c := unstarted(Config{DataDir: dir, Store: store, Bootstrap: bootstrap}.withTimes())
		c.member = node.New(c.tasks)
		c.member.Address = raft.ServerAddress(address)
		return c.begins(t.Context())
	}
	disk, other := t.TempDir(), t.TempDir()
	if _, err := asks(deaf{store}, disk, first, first); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("a store that takes no word: %v", err)
	}
	for _, c := range []struct {
		what, dir, bootstrap, address string
		want                          bool
	}{
		{"nobody is named", t.TempDir(), "", first, false},
		{"another is named", t.TempDir(), first, second, false},
		{"named, after a start that failed", disk, first, first, true},
		{"again, for it stopped before its log began", disk, first, first, true},
		{"its disk is lost", other, first, first, false},
		{"its old disk is back", disk, first, first, true},
	} {
		if got, err := asks(store, c.dir, c.bootstrap, c.address); err != nil || got != c.want {
			t.Errorf("%s: begins: %v, want %v (%v)", c.what, got, c.want, err)
		}
	}
}
