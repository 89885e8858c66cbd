package protocol_test

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A fault tells its position as far as it is known; byte 0, the first, is one.
func TestFaultTellsItsPosition(t *testing.T) {
	for want, f := range map[string]protocol.Fault{
		"BAD_RECORD: a.csv, line 2, column 3 (byte 17): no number": {Object: "a.csv", Line: 2, Column: 3, Offset: 17, What: "no number"},
		"BAD_RECORD: a.csv, line 1 (byte 0): no number":            {Object: "a.csv", Line: 1, What: "no number"},
		"BAD_RECORD: a.npy (byte 0): no number":                    {Object: "a.npy", What: "no number"},
		"BAD_RECORD: a.csv, line 2: no number":                     {Object: "a.csv", Line: 2, Offset: -1, What: "no number"},
		"BAD_RECORD: a.csv: no number. Mend it.":                   {Object: "a.csv", Offset: -1, What: "no number", Hint: "Mend it."},
		"BAD_RECORD: no number: cause":                             {Offset: 5, What: "no number", Err: errors.New("cause")},
	} {
		f.Code = protocol.CodeBadRecord
		if got := f.Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
