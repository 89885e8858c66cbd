package validate_test

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

func TestWhatIsRefused(t *testing.T) {
	for want, err := range map[string]error{
		`SPEC_INVALID: form is one of ["plain" "voted"], not "votes". Did you mean "voted"?`: validate.OneOf("form", "votes", "plain", "voted"),
		`SPEC_INVALID: form is one of ["plain" "voted"], not ""`:                             validate.OneOf("form", "", "plain", "voted"),
		`SPEC_INVALID: spec.params.text: k is at fault`: validate.In("spec.params",
			validate.In("text", protocol.SpecFault(
				"k is at fault"))),
		`SPEC_INVALID: spec.params: row 1: not a number`: validate.In("spec.params",
			protocol.SpecFault(
				"row 1: not a number")),
		`SPEC_INVALID: spec.params: k is from 1 to 9, not 0`: validate.In("spec.params", validate.Within("k", 0, 1, 9)),
		`SPEC_INVALID: k is from 1 to 9, not 10`:             validate.Within("k", 10, 1, 9),
		`SPEC_INVALID: k and r exclude each other`: protocol.SpecFault(
			"k and %s exclude each other", "r"),
	} {
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Class != protocol.ClassInput || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func TestWhatPasses(t *testing.T) {
	other := errors.New("other")
	for i, err := range []error{validate.OneOf("form", "voted", "plain", "voted"), validate.Within("k", 1, 1, 9), validate.Within("k", 9, 1, 9),
		validate.In("spec.params", nil)} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := validate.In("spec.params", other); err != other {
		t.Error(err)
	}
}
