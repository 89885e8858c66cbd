package protocol

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// wrongType reports a value of another type; a nil t is never wrong.
func wrongType(path string, value json.RawMessage, t reflect.Type) *Fault {
	got := string(bytes.TrimSpace(value))
	switch first(value) {
	case '"':
		got = "a string"
	case '{':
		got = "an object"
	case '[':
		got = "a list"
	}
	if path == "" {
		return SpecFault("it wants %s, not %.40s", plainType(t), got)
	}
	return SpecFault("field %q wants %s, not %.40s", path, plainType(t), got)
}

func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 on"
	}
	return "a whole number"
}

// first is the character that a value begins with: the value is valid JSON, so it has one.
func first(value json.RawMessage) byte { return bytes.TrimSpace(value)[0] }

func isNull(value json.RawMessage) bool { return first(value) == 'n' }

// within is the path of a member.
func within(path, name string) string {
	if !plainName(name) {
		name = strconv.Quote(cut(name))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func orTop(path string) string {
	if path == "" {
		return "the top"
	}
	return path
}

// plainName reports whether a name can stand in a path as it is.
func plainName(name string) bool {
	for _, c := range []byte(name) {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return name != "" && len(name) <= maxShown
}

// maxShown bounds what an error shows of a name.
const maxShown = 80

func cut(name string) string {
	if len(name) <= maxShown {
		return name
	}
	return strings.ToValidUTF8(name[:maxShown], "") + "..."
}
