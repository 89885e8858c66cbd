package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep the values of a document are nested.
const maxDepth = 16

// StrictDecode reads one JSON value into a struct. Unknown fields, field names in another case, names that stand
// twice in one object, null for a number or text, invalid UTF-8, trailing data and a nesting deeper than 16 are
// refused with a *Fault of CodeSpecInvalid that has the field's full path. Names are compared byte for byte.
func StrictDecode(data []byte, into any) error { return StrictDecodeAt("", data, into) }

// StrictDecodeAt is StrictDecode of a part of a document: at is the part's path, such as "spec.params".
func StrictDecodeAt(at string, data []byte, into any) error {
	var around []field
	if at == "spec" || strings.HasPrefix(at, "spec.") {
		around = []field{{typ: reflect.TypeFor[JobSpec]()}}
	}
	return strictDecode(data, into, field{path: at, typ: reflect.TypeOf(into)}, around...)
}

// strictDecode checks the document by its tokens before encoding/json, which ignores case and takes the last of two
// equal names, sets the values. The fields of more are suggested beside those of into.
func strictDecode(data []byte, into any, root field, more ...field) error {
	if !utf8.Valid(data) {
		return SpecFault("the text is not valid UTF-8")
	}
	if err := checkDepth(data, maxDepth); err != nil {
		return SpecFault("%v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return SpecFault("%s", plainSyntax(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return SpecFault("more data follows the value; a spec is one object")
	}
	walk := walker{roots: append([]field{root}, more...)}
	if fault := walk.checkAny(root.path, value); fault != nil { // names that stand twice, whatever the types
		return fault
	}
	if fault := walk.check(root.path, value, root.typ); fault != nil {
		return fault
	}
	if err := json.Unmarshal(value, into); err != nil {
		return SpecFault("%s", plainSyntax(err))
	}
	return nil
}

// CheckNames refuses an object, at any depth, in which a name stands twice, with a *Fault that has its path. What is
// not JSON passes: the reader proper reports it.
func CheckNames(data []byte) error {
	if err := checkDepth(data, maxDepth); err != nil {
		return SpecFault("%v", err)
	}
	if !json.Valid(data) {
		return nil
	}
	if fault := (walker{}).checkAny("", data); fault != nil {
		return fault
	}
	return nil
}

// plainSyntax is an error of encoding/json without the package's name.
func plainSyntax(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "the JSON ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON: %v, at byte %d", syntax, syntax.Offset)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// checkDepth looks at brackets alone, outside texts, so that depth is bounded before decoding. What is not JSON passes
// unless it is deep: the decoder proper reports syntax.
func checkDepth(data []byte, limit int) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > limit {
			return fmt.Errorf("values are nested deeper than %d", limit)
		}
	}
	return nil
}
