package checker

import (
	"context"

	"github.com/gram-compute/gram/chaos/linear"
)

// linearizable is I4.
func linearizable(_ context.Context, e *Evidence, v *verdict) error {
	v.checked, _ = linear.Calls(e.Operations)
	if err := linear.Check(e.Operations); err != nil {
		v.found = append(v.found, err.Error())
	}
	return nil
}
