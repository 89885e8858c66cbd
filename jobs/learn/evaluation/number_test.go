package evaluation

import (
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Labels are the decimal numbers that columns are, and not all of Go's literals: 1_2 is no 12.
func TestNumber(t *testing.T) {
	for label, want := range map[string]float64{"3": 3, " -0.5\t": -0.5, "+1e3": 1000, "2E-2": 0.02, ".5": 0.5} {
		if v, err := Number(dataset.Identity{}, []byte(label)); err != nil || v != want {
			t.Errorf("%q: %v, %v", label, v, err)
		}
	}
	for _, label := range []string{"", "x", "1_2", "0x1p4", "0x10", "NaN", "-Inf", "infinity", "1e999", "1,5", "1d3", "e"} {
		_, err := Number(dataset.Identity{}, []byte(label))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || !strings.Contains(err.Error(), `"`+label+`"`) {
			t.Errorf("%q: %v", label, err)
		}
	}
}
