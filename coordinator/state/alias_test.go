package state_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
)

func TestAliasesAreBounded(t *testing.T) {
	s := finished(t, finished(t, state.New(), "m1"), "m2")
	for i := range state.MaxAliases {
		s, _ = run(t, s, setAlias(fmt.Sprint("n", i), "m1"))
	}
	refused(t, s, setAlias("more", "m1"), state.Exhausted, "remove one")
	s, _ = run(t, s, setAlias("n7", "m2")) // an existing one moves all the same
	if s.AliasCount() != state.MaxAliases {
		t.Errorf("%d aliases", s.AliasCount())
	}
}

// A snapshot holds all aliases and all retired jobs, not just the first of each.
func TestUpkeepOfASnapshot(t *testing.T) {
	s := state.New()
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		s = finished(t, s, id)
	}
	s, _ = run(t, s, setAlias("prod", "m1"), setAlias("test", "m2"), retireByHand("m3"), retireByHand("m4"))
	read := reread(t, s)
	for name, want := range map[string]string{"prod": "m1", "test": "m2"} {
		if a, ok := read.Alias(name); !ok || a.JobID != want || a.SetAt != 2000 {
			t.Errorf("alias %s: %+v, %v", name, a, ok)
		}
	}
	for _, id := range []string{"m3", "m4"} {
		if gone, ok := read.Retired.Get(id); !ok || gone.RetiredAt != 2000 || !gone.OwnOutput {
			t.Errorf("retired job %s: %+v, %v", id, gone, ok)
		}
	}
}
