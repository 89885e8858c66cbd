// Package validate checks the parameters of a job: each function returns nil or a *protocol.Fault of
// CodeSpecInvalid whose text begins with the parameter's name.
package validate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Decode reads a kind's parameters over the defaults in into, strictly; without params it changes nothing.
func Decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return nil
	}
	return protocol.StrictDecodeAt("spec.params", params, into)
}

// In returns a fault with a field of the spec, such as "spec.params", before its text; a fault that begins
// with a field of its own, as "text: ", gets one path. Other errors stay as they are.
func In(field string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		named := *fault
		join := ": "
		if inner, _, ok := strings.Cut(fault.What, ": "); ok && isPath(inner) {
			join = "."
		}
		named.What = field + join + fault.What
		return &named
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
	return protocol.SpecFault("%s is one of %q, not %q", name, allowed, value).Suggest(value, allowed)
}

// Within refuses a number below low or above high.
func Within(name string, n, low, high int) error {
	if n < low || n > high {
		return protocol.SpecFault("%s is from %d to %d, not %d", name, low, high, n)
	}
	return nil
}
