// Package validate says what is wrong with the parameters of a job: each function gives nil or a *protocol.Fault of
// CodeSpecInvalid whose text begins with the parameter's name.
package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Fault is a fault of the spec.
func Fault(format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Code: protocol.CodeSpecInvalid, Class: protocol.ClassInput, Offset: -1, What: fmt.Sprintf(format, args...)}
}

// Decode reads a kind's parameters over the defaults in into, strictly; without params it changes nothing.
func Decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return nil
	}
	return protocol.StrictDecodeAt("spec.params", params, into)
}

// In puts the field of the spec that a fault is of, such as "spec.params", before what it says; a fault that begins
// with a field of its own, as "text: ", gets one path. Other errors stay as they are.
func In(field string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		join := ": "
		if inner, _, ok := strings.Cut(fault.What, ": "); ok && isPath(inner) {
			join = "."
		}
		fault.What = field + join + fault.What
	}
	return err
}

// isPath reports whether a text is names of fields with dots between them.
func isPath(text string) bool {
	for _, c := range []byte(text) {
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
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
