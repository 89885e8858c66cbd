package origin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Field is a field of JSON with two values, as JSON; "" where one of them lacks it.
type Field struct {
	Path  string `json:"path"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

// Fields compares two JSON values, field by field, and lists those that differ in order of path.
func Fields(left, right json.RawMessage) ([]Field, error) {
	a, err := Flat(left)
	if err != nil {
		return nil, err
	}
	b, err := Flat(right)
	if err != nil {
		return nil, err
	}
	return Differing(a, b), nil
}

// Differing compares values by path, and lists those that differ in order of path.
func Differing(a, b map[string]string) []Field {
	paths := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(paths)
	found := []Field{}
	for _, path := range slices.Compact(paths) {
		if a[path] != b[path] {
			found = append(found, Field{path, a[path], b[path]})
		}
	}
	return found
}

// Flat lists the values of a JSON value that hold no others, by path. No data is no value.
func Flat(data json.RawMessage) (map[string]string, error) {
	found := map[string]string{}
	if len(data) == 0 {
		return found, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	return found, flatten(found, "", value)
}

func flatten(into map[string]string, path string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v { //lint:ordered each goes to a place of its own
			if err := flatten(into, strings.TrimPrefix(path+"."+name, "."), field); err != nil {
				return err
			}
		}
	case []any:
		for i, element := range v {
			if err := flatten(into, fmt.Sprintf("%s[%d]", path, i), element); err != nil {
				return err
			}
		}
	default:
		text, err := json.Marshal(v)
		into[path] = string(text)
		return err
	}
	return nil
}
