package naivebayes

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// What is no labelled text is refused when the job is submitted.
func TestNewRefusesInputs(t *testing.T) {
	column := func(n int) protocol.Column { return protocol.Column{Number: n} }
	for name, c := range map[string]struct {
		in protocol.Input
		ok bool
	}{
		"tsv":      {protocol.Input{Format: "tsv", Label: column(1), Text: column(2)}, true},
		"csv":      {protocol.Input{Format: "csv", Label: column(1), Text: column(2)}, true},
		"no label": {protocol.Input{Format: "tsv", Text: column(2)}, false},
		"no text":  {protocol.Input{Format: "csv", Label: column(1)}, false},
		"weights":  {protocol.Input{Format: "csv", Label: column(1), Text: column(2), Weight: column(3)}, false},
		"also features": {protocol.Input{Format: "csv", Label: column(1), Text: column(2),
			Features: []protocol.Column{column(3)}}, false},
		"counts":  {protocol.Input{Format: "libsvm"}, true},
		"vectors": {protocol.Input{Format: "fvecs"}, false},
	} {
		params, err := Kind().Defaults(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(protocol.JobSpec{Spec: protocol.Spec{Input: c.in, Params: params}})
		var fault *protocol.Fault
		if refused := errors.As(err, &fault) && fault.Code == protocol.CodeSpecInvalid; (err == nil) != c.ok ||
			refused == c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
