// Package params makes the parameters of a kind of job from data: one declaration for each, with its name, type,
// default, bounds and a sentence. Parsing, defaults, checks, messages, the reference (docs/kinds), the JSON Schema and
// the completion of --set come from the declarations.
package params

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Declarer is a pointer to a struct of parameters, whose JSON names are the parameters' names.
type Declarer interface {
	// Parameters declares every parameter, bound to the receiver's fields.
	Parameters() []Parameter
}

// Pointer is a *P that declares parameters.
type Pointer[P any] interface {
	*P
	Declarer
}

// Set is the parameters of a kind.
type Set struct {
	// Zero is the struct that parameters are read into, for its JSON names.
	Zero any
	// List returns the declarations.
	List func() []Parameter
	// Defaults returns params with every default written in; a *protocol.Fault of CodeSpecInvalid rejects them.
	Defaults func(params json.RawMessage) (json.RawMessage, error)
}

// Of returns the parameters that a struct declares.
func Of[P any, T Pointer[P]]() Set {
	return Set{
		Zero:     *new(P),
		List:     func() []Parameter { return T(new(P)).Parameters() },
		Defaults: Defaults[P, T],
	}
}

// Defaults returns params with every default written in; a *protocol.Fault of CodeSpecInvalid rejects them.
func Defaults[P any, T Pointer[P]](params json.RawMessage) (json.RawMessage, error) {
	p, err := Parse[P, T](params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// Parse reads parameters over their defaults and checks them. A struct may have two methods more: Complete writes in
// defaults that depend on other parameters, Check rejects parameters that contradict each other.
func Parse[P any, T Pointer[P]](params json.RawMessage) (P, error) {
	var p, none P
	Reset(T(&p).Parameters())
	if len(params) > 0 {
		if err := protocol.StrictDecodeAt("spec.params", params, &p); err != nil {
			return none, err
		}
	}
	if c, ok := any(&p).(interface{ Complete() }); ok {
		c.Complete()
	}
	if err := Check[P, T](&p); err != nil {
		return none, In("spec.params", err)
	}
	return p, nil
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
