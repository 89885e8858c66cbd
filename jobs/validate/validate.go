// Package validate says what is wrong with the parameters of a job: each function gives nil or a *protocol.Fault of
// CodeSpecInvalid whose text begins with the parameter's name.
package validate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// Fault is a fault of the spec.
func Fault(format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Code: protocol.CodeSpecInvalid, Class: protocol.ClassInput, Offset: -1, What: fmt.Sprintf(format, args...)}
}

// In puts the field of the spec that a fault is of, such as "params", before what it says. Other errors stay as they are.
func In(field string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		fault.What = field + ": " + fault.What
	}
	return err
}

// OneOf refuses what is not among the names allowed, and tells the nearest of them.
func OneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	fault := Fault("%s is one of %q, not %q", name, allowed, value)
	if near := protocol.Nearest(value, allowed); near != "" {
		fault.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return fault
}

// Within refuses a number below low or above high.
func Within(name string, n, low, high int) error {
	if n < low || n > high {
		return Fault("%s is from %d to %d, not %d", name, low, high, n)
	}
	return nil
}
