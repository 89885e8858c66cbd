package blocks

import (
	"errors"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// Seven blocks in three shards are gone through by two a round; each once, in the order of the epoch.
func TestNextByHand(t *testing.T) {
	key, plan := philox.New(1, "test"), jobs.Plan{Shards: 3, Blocks: 7}
	for _, drawn := range []bool{false, true} {
		var all []int
		for len(all) < plan.Blocks {
			next, err := Next(key, 4, int64(len(all)), plan, drawn)
			if err != nil || len(next) != min(2, plan.Blocks-len(all)) {
				t.Fatal(next, err)
			}
			all = append(all, next...)
		}
		if !slices.Equal(all, Order(key, 4, 7, drawn)) || slices.IsSorted(all) == drawn {
			t.Errorf("drawn %v: %v", drawn, all)
		}
		if slices.Sort(all); !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("drawn %v: %v", drawn, all)
		}
	}
	for _, shards := range []int{0, 7, 100} {
		plan.Shards = shards
		want := map[int]int{0: 7, 7: 1, 100: 1}[shards]
		if next, err := Next(key, 0, 0, plan, false); err != nil || len(next) != want {
			t.Errorf("%d shards: %v, %v", shards, next, err)
		}
	}
	for _, position := range []int64{-1, 7, 1 << 40} {
		_, err := Next(key, 0, position, plan, true)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("position %d: %v", position, err)
		}
	}
}
