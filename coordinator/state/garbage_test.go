package state_test

import (
	"math"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
)

// What an ended job does not refer to is garbage, of whichever round; what it refers to is not.
func TestGarbageOfAnEndedJob(t *testing.T) {
	s := finished(t, state.New(), "a") // at 1002
	object := func(round uint32, digest byte) state.ObjectID {
		return state.ObjectID{Round: round, SHA256: [32]byte(ref(digest).Sha256)}
	}
	ended, before := auditedJob(t, s).Garbage(1002), auditedJob(t, s).Garbage(1001)
	if ended.Empty() || !before.Empty() {
		t.Errorf("no garbage at its end: %v, before: %v", ended.Empty(), before.Empty())
	}
	for _, round := range []uint32{0, 1, 2, math.MaxUint32 - 1, math.MaxUint32} {
		if is, was := ended.Has(object(round, 77)), before.Has(object(round, 77)); !is || was {
			t.Errorf("an object of round %d that nobody reads: garbage %v, before the job's end %v", round, is, was)
		}
	}
	if ended.Has(object(1, 8)) || !ended.Has(object(1, 10)) { // the model and the leaf
		t.Errorf("the model is garbage: %v; the leaf: %v", ended.Has(object(1, 8)), ended.Has(object(1, 10)))
	}
}
