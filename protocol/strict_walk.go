package protocol

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// walker compares a document with the type that it is read into.
type walker struct {
	roots []field // where suggestions come from: the type read into, and its surroundings
}

// member is one name of an object and its value.
type member struct {
	name  string
	value json.RawMessage
}

var (
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// check compares the value at path with type t; a nil t takes any value whose objects have no name twice.
func (w walker) check(path string, value json.RawMessage, t reflect.Type) *Fault {
	for t != nil && t.Kind() == reflect.Pointer && !isNull(value) {
		t = t.Elem()
	}
	switch {
	case t == nil || t.Kind() == reflect.Interface:
		return w.checkAny(path, value)
	case reflect.PointerTo(t).Implements(jsonReader) || reflect.PointerTo(t).Implements(textReader):
		return w.checkOwn(path, value, t)
	case isNull(value):
		return checkNull(path, t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.checkStruct(path, value, t)
	case reflect.Map:
		return w.checkMembers(path, value, t, func(member) (reflect.Type, *Fault) { return t.Elem(), nil })
	case reflect.Slice, reflect.Array:
		return w.checkList(path, value, t, t.Elem())
	case reflect.String:
		_, fault := decodeText(path, value)
		return fault
	}
	if !fits(value, t) {
		return wrongType(path, value, t)
	}
	return nil
}

func (w walker) checkAny(path string, value json.RawMessage) *Fault {
	switch first(value) {
	case '{':
		return w.checkMembers(path, value, nil, func(member) (reflect.Type, *Fault) { return nil, nil })
	case '[':
		if !bytes.ContainsAny(value, `{"`) {
			return nil // numbers alone: there is no name or text in it
		}
		return w.checkList(path, value, nil, nil)
	case '"':
		_, fault := decodeText(path, value)
		return fault
	}
	return nil
}

// checkOwn asks a type that reads itself, so that its refusal gets the path.
func (w walker) checkOwn(path string, value json.RawMessage, t reflect.Type) *Fault {
	err := json.Unmarshal(value, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	what, hint := strings.TrimPrefix(err.Error(), "json: "), ""
	var fault *Fault
	if errors.As(err, &fault) {
		what, hint = fault.What, fault.Hint
	}
	if path != "" {
		what = path + ": " + what
	}
	return SpecFault("%s", what).WithHint(hint)
}

func (w walker) checkStruct(path string, value json.RawMessage, t reflect.Type) *Fault {
	known := fieldsOf(t)
	return w.checkMembers(path, value, t, func(m member) (reflect.Type, *Fault) {
		for _, f := range known {
			if f.path == m.name {
				return f.typ, nil
			}
		}
		return nil, w.unknown(path, m, t)
	})
}

// checkMembers checks an object: of is the type of a member, or why there is no such member.
func (w walker) checkMembers(path string, value json.RawMessage, t reflect.Type,
	of func(member) (reflect.Type, *Fault)) *Fault {
	if first(value) != '{' {
		return wrongType(path, value, t)
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	seen := map[string]bool{}
	_, _ = dec.Token() // the brace; the value is known to be valid JSON
	for dec.More() {
		start := dec.InputOffset()
		token, _ := dec.Token()
		name, _ := token.(string)
		if broken(name, value[start:dec.InputOffset()]) {
			return SpecFault("%s: a name has half of a surrogate pair, which is no character", orTop(path))
		}
		m := member{name: name}
		if err := dec.Decode(&m.value); err != nil {
			return SpecFault("%s", plainSyntax(err))
		}
		if seen[name] {
			return SpecFault("%s stands twice; a name may stand once in an object", within(path, name))
		}
		seen[name] = true
		typ, fault := of(m)
		if fault == nil {
			fault = w.check(within(path, name), m.value, typ)
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}

func (w walker) checkList(path string, value json.RawMessage, t, elem reflect.Type) *Fault {
	if first(value) != '[' {
		return wrongType(path, value, t)
	}
	if elem != nil && fitAll(value, elem) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	_, _ = dec.Token()
	for i := 0; dec.More(); i++ {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return SpecFault("%s", plainSyntax(err))
		}
		if fault := w.check(fmt.Sprintf("%s[%d]", path, i), item, elem); fault != nil {
			return fault
		}
	}
	return nil
}

// checkNull lets null stand for a section without content; a number or text that is not given would be the default.
func checkNull(path string, t reflect.Type) *Fault {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Struct, reflect.Interface:
		return nil
	}
	return SpecFault("field %q is empty; it wants %s. Without the field it has its default", path, plainType(t))
}

// fitAll reports whether each element of a list is a number that t takes. A spec may hold thousands; false says that
// they are to be looked at one by one.
func fitAll(list json.RawMessage, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
	default:
		return false
	}
	if reflect.PointerTo(t).Implements(jsonReader) || reflect.PointerTo(t).Implements(textReader) ||
		bytes.ContainsAny(list, `n"`) { // null, or texts, which a list of bytes may be
		return false
	}
	return json.Unmarshal(list, reflect.New(reflect.SliceOf(t)).Interface()) == nil
}

// fits reports whether a bool or number can be stored in t.
func fits(value json.RawMessage, t reflect.Type) bool {
	text := string(bytes.TrimSpace(value))
	if c := first(value); c == '"' || c == '{' || c == '[' {
		return false
	}
	switch t.Kind() {
	case reflect.Bool:
		return text == "true" || text == "false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		_, err := strconv.ParseInt(text, 10, t.Bits())
		return err == nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		_, err := strconv.ParseUint(text, 10, t.Bits())
		return err == nil
	case reflect.Float32, reflect.Float64:
		_, err := strconv.ParseFloat(text, t.Bits())
		return err == nil && text != "true" && text != "false"
	}
	return false
}

func decodeText(path string, value json.RawMessage) (string, *Fault) {
	var text string
	if first(value) != '"' || json.Unmarshal(value, &text) != nil {
		return "", wrongType(path, value, reflect.TypeFor[string]())
	}
	if broken(text, value) {
		return "", SpecFault("field %q has half of a surrogate pair, which is no character", path)
	}
	return text, nil
}

// broken reports whether encoding/json put U+FFFD into a text in place of half of a surrogate pair: the text then has
// more of them than its JSON.
func broken(text string, raw []byte) bool {
	return strings.Count(text, replacement) > replacements(raw)
}

const replacement = string(utf8.RuneError)

// replacements counts U+FFFD in the JSON of a text, as it is or escaped.
func replacements(raw []byte) int {
	n := bytes.Count(raw, []byte(replacement))
	_, raw, found := bytes.Cut(raw, []byte{'\\'})
	for found {
		if strings.EqualFold(string(raw[:min(5, len(raw))]), "ufffd") {
			n++
		}
		_, raw, found = bytes.Cut(raw[1:], []byte{'\\'}) // what is escaped may be a backslash
	}
	return n
}
