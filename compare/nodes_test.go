package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/proof"
)

// Records that say another number of trees than their manifests are told apart, and not read past their end.
func TestTreesThatAreAbsent(t *testing.T) {
	few := recordOf(1)
	few.Trees, few.Nodes = few.Trees[:1], few.Nodes[:5*32]
	for _, got := range []Nodes{firstNode(recordOf(1), few), firstNode(few, recordOf(1))} {
		if !strings.Contains(got.Says, " in one, and ") {
			t.Errorf("%+v", got)
		}
	}
}

// A round of many trees is compared in one pass: finding each node anew takes minutes.
func TestManyTrees(t *testing.T) {
	of := func(last byte) *proof.Record {
		r := &proof.Record{Round: 1, Phase: "p", Trees: slices.Repeat([]int64{1}, 1<<18), Nodes: make([]byte, 32<<18)}
		r.Nodes[len(r.Nodes)-32] = last
		return r
	}
	begun := time.Now()
	got := firstNode(of(0), of(1))
	if got.Tree != 1<<18-1 || got.Leaves != 1 || got.Of != 1<<18 {
		t.Errorf("%+v", got)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("%d trees took %v", 1<<18, took)
	}
}
