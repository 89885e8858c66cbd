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
		l := newLedger(nil)
		if err := l.failed(Finding{Of: OfLeaf}, c.err); err != nil || len(l.result.Missing) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, l.result)
		}
		says := l.result.Missing[0].Says
		if !strings.Contains(says, c.advice) || strings.Contains(says, "Submit") || strings.Contains(says, "worker") {
			t.Errorf("%s: %s", name, says)
		}
	}
}

// A false node is told however many files are false before it.
func TestAFalseNodeAmongManyFiles(t *testing.T) {
	l := newLedger(nil)
	for i := range maxFindings + 1 {
		l.noteFalse(Finding{Of: OfOutput, Says: fmt.Sprint(i)})
	}
	if kind := l.result.FalseKind(); kind != FalseOutputs || l.result.More != 1 {
		t.Errorf("kind %d, %d more", kind, l.result.More)
	}
	l.noteFalse(Finding{Of: OfMerge, Says: "a merge"})
	if kind := l.result.FalseKind(); kind != FalseNodes || l.result.More != 2 || len(l.result.False) != maxFindings {
		t.Errorf("kind %d, %d more, %d listed", kind, l.result.More, len(l.result.False))
	}
}
