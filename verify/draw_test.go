package verify

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/proof"
)

// drawn is a plan over rounds with that many leaves, of which the first known have their state kept.
func drawn(t *testing.T, cfg Config, kept string, known int, leaves ...int64) []work {
	t.Helper()
	v := &verifier{cfg: cfg, manifest: &proof.Manifest{Kept: kept}}
	v.ledger = &ledger{result: &Result{}}
	for i, n := range leaves {
		v.manifest.Rounds = append(v.manifest.Rounds, proof.Round{Round: int64(i) + 1, Leaves: n, State: i < known})
		v.rounds = append(v.rounds, newRound(&proof.Record{Round: int64(i) + 1, Phase: "p", Trees: []int64{n}}))
		v.result.Leaves.Of += n
	}
	plan := v.choose()
	v.needCarries(plan, func(string) bool { return cfg.Parallel == 7 }) // a mark of the test
	return plan
}

// The same draw chooses the same leaves, another one others, and every leaf is drawn about as often as the others.
func TestDrawsAreFair(t *testing.T) {
	count := make([]int, 40)
	for draw := range uint64(2000) {
		cfg := Config{Sample: 10, Rounds: 0, Draw: draw}
		plan := drawn(t, cfg, proof.States, 2, 25, 15)
		again := drawn(t, cfg, proof.States, 2, 25, 15)
		if !slices.Equal(plan[0].some, again[0].some) || len(plan[0].some)+len(plan[1].some) != 10 {
			t.Fatalf("%v, then %v", plan, again)
		}
		for i, first := range []int64{0, 25} {
			for _, leaf := range plan[i].some {
				count[first+leaf]++
			}
		}
	}
	for leaf, n := range count { // 500 are expected, and the deviation is 19
		if n < 400 || n > 600 {
			t.Errorf("leaf %d was drawn %d times of 2000", leaf, n)
		}
	}
}

// Leaves are drawn of rounds with a known state; where that is all of them, the rounds are repeated whole.
func TestWhatIsRepeated(t *testing.T) {
	plan := drawn(t, Config{Sample: 5, Rounds: 1}, proof.States, 1, 20, 20)
	if len(plan[0].some) != 5 || plan[1].any() || !plan[0].whole {
		t.Errorf("the second state is not known: %+v", plan)
	}
	plan = drawn(t, Config{Sample: 20, Rounds: 0}, proof.States, 1, 20, 20)
	if !plan[0].whole || plan[0].drawn != nil || plan[1].any() {
		t.Errorf("all that can be: %+v", plan)
	}
	for _, c := range []struct {
		kept string
		want int
	}{{proof.States, 1}, {proof.Full, 0}} {
		whole := 0
		for _, w := range drawn(t, Config{Sample: 5, Rounds: -1}, c.kept, 3, 20, 20, 20) {
			if w.whole {
				whole++
			}
		}
		if whole != c.want {
			t.Errorf("%s: %d whole rounds", c.kept, whole)
		}
	}
	if plan = drawn(t, Config{All: true}, proof.Digests, 0, 20, 20); !plan[0].whole || !plan[1].whole {
		t.Errorf("--all: %+v", plan)
	}
}

// What a leaf carries comes from all earlier rounds of its phase.
func TestCarriesNeedEarlierRounds(t *testing.T) {
	plan := drawn(t, Config{Sample: 3, Rounds: 0, Parallel: 7, Draw: 2}, proof.States, 3, 50, 50, 50)
	for i := range 2 {
		for _, leaf := range plan[i+1].some {
			if !slices.Contains(plan[i].some, leaf) {
				t.Errorf("leaf %d of round %d, and not of round %d: %+v", leaf, i+2, i+1, plan)
			}
		}
	}
	plan = drawn(t, Config{Sample: 3, Rounds: 3, Parallel: 7}, proof.States, 3, 50, 50, 50)
	if !plan[0].all && !plan[0].whole {
		t.Errorf("a whole round needs all leaves before it: %+v", plan)
	}
}
