package verify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// What is missing comes with advice for the one who checks, not for the one who runs jobs.
func TestAdviceOnMissingInput(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		advice string
	}{
		"changed":  {dataset.StoreFault("x.csv", objstore.ErrChanged), "Restore the object that was planned"},
		"damaged":  {protocol.InputFault(protocol.CodeInputDamaged, "cut off").In("x.csv"), "Restore the object"},
		"denied":   {dataset.StoreFault("x.csv", objstore.ErrDenied), "that this process may read it."},
		"unopened": {dataset.OpenFault("x.csv", errors.New("no such folder")), "that this process may read it."},
		"unwell":   {dataset.StoreFault("x.csv", objstore.ErrUnavailable), "Check again when the store answers."},
	} {
		result := &Result{}
		v := &verifier{outputs: outputs{ledger: &ledger{result: result, told: map[string]bool{}}}}
		if err := v.failed(Finding{Of: OfLeaf}, c.err); err != nil || len(result.Missing) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, result)
		}
		says := result.Missing[0].Says
		if !strings.Contains(says, c.advice) || strings.Contains(says, "Submit") || strings.Contains(says, "worker") {
			t.Errorf("%s: %s", name, says)
		}
	}
}

// A false node is told however many files are false before it.
func TestAFalseNodeAmongManyFiles(t *testing.T) {
	l := &ledger{result: &Result{}, told: map[string]bool{}}
	for i := range maxFindings + 1 {
		l.isFalse(Finding{Of: OfOutput, Says: fmt.Sprint(i)})
	}
	if kind := l.result.FalseKind(); kind != FalseOutputs || l.result.More != 1 {
		t.Errorf("kind %d, %d more", kind, l.result.More)
	}
	l.isFalse(Finding{Of: OfMerge, Says: "a merge"})
	if kind := l.result.FalseKind(); kind != FalseNodes || l.result.More != 2 || len(l.result.False) != maxFindings {
		t.Errorf("kind %d, %d more, %d listed", kind, l.result.More, len(l.result.False))
	}
}
