package protocol_test

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A fault tells its position as far as it is known; byte 0, the first, is one.
func TestFaultTellsItsPosition(t *testing.T) {
	fault := protocol.InputFault(protocol.CodeBadRecord, "no %s", "number")
	for want, f := range map[string]*protocol.Fault{
		"BAD_RECORD: a.csv, line 2, column 3 (byte 17): no number": fault.In("a.csv").At(2, 3).WithOffset(17),
		"BAD_RECORD: a.csv, line 1 (byte 0): no number":            fault.In("a.csv").At(1, 0).WithOffset(0),
		"BAD_RECORD: a.npy (byte 0): no number":                    fault.In("a.npy").WithOffset(0),
		"BAD_RECORD: a.csv, line 2: no number":                     fault.In("a.csv").At(2, 0),
		"BAD_RECORD: a.csv, line 3: no number": fault.In("a.csv").At(3, 0).
			WithOffset(9).WithoutOffset(),
		"BAD_RECORD: a.csv: no number. Mend it.": fault.In("a.csv").WithHint("Mend it."),
		"BAD_RECORD: no number. Did you mean \"ham\"?": fault.WithHint("Mend it.").
			Suggest("hum", []string{"ham"}),
		"BAD_RECORD: no number. Mend it, now.": fault.WithHint("Mend it, now.").
			Suggest("x", []string{"ham"}),
		"BAD_RECORD: no number: cause": fault.WithOffset(5).Because(errors.New("cause")),
		"BAD_RECORD: no number":        fault,
	} {
		if got := f.Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
