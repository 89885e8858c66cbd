package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// StrictDecode reads one JSON value into a struct: unknown fields, trailing data
// and a nesting deeper than 16 are refused with a *Fault of CodeSpecInvalid that
// names the field and, for a misspelt one, the nearest known name.
func StrictDecode(data []byte, into any) error {
	if err := checkDepth(data, 16); err != nil {
		return specFault("%v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return specFault("%s", explainDecode(err, reflect.TypeOf(into)))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return specFault("more data follows the value; a spec is one object")
	}
	return nil
}

func specFault(format string, args ...any) *Fault {
	return &Fault{Code: CodeSpecInvalid, Class: ClassInput, Offset: -1, What: fmt.Sprintf(format, args...)}
}

// checkDepth walks the tokens without building values, so depth is bounded before decoding.
func checkDepth(data []byte, limit int) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	depth := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return nil // the decoder proper reports syntax
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > limit {
			return fmt.Errorf("values are nested deeper than %d", limit)
		}
		if depth == 0 {
			return nil
		}
	}
}

func explainDecode(err error, target reflect.Type) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return fmt.Sprintf("field %q wants %s, not %s", wrongType.Field, plainType(wrongType.Type), strings.TrimPrefix(wrongType.Value, "number "))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		if near := Nearest(name, fieldNames(target, nil)); near != "" {
			return fmt.Sprintf("unknown field %q; did you mean %q?", name, near)
		}
		return fmt.Sprintf("unknown field %q", name)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
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
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 on"
	}
	return "a whole number"
}

// fieldNames collects the JSON names of t and of what it holds.
func fieldNames(t reflect.Type, names []string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return names
	}
	for i := range t.NumField() {
		tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if tag == "" || tag == "-" {
			continue
		}
		names = fieldNames(t.Field(i).Type, append(names, tag))
	}
	return names
}

// Nearest returns the candidate within two edits of word (a third of its length at
// most), or "". The first of equals wins.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", min(2, 1+len(word)/3)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance is Levenshtein's, by bytes, in one row.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
