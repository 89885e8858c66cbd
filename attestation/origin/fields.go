package origin

import (
	"bytes"
	"encoding/json"
	"errors"
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
	return found, (&flattener{into: found, left: maxPaths}).flatten("", value)
}

// maxPaths bounds the paths of a value, in bytes: a long name stands in the path of each value below it.
const maxPaths = 256 << 20

var errPaths = errors.New("the paths of its fields are too long")

type flattener struct {
	into map[string]string
	left int // bytes of paths
}

func (f *flattener) flatten(path string, value any) error {
	if f.left -= len(path); f.left < 0 {
		return errPaths
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v { //lint:ordered each goes to a place of its own
			if err := f.flatten(strings.TrimPrefix(path+"."+name, "."), field); err != nil {
				return err
			}
		}
	case []any:
		for i, element := range v {
			if err := f.flatten(fmt.Sprintf("%s[%d]", path, i), element); err != nil {
				return err
			}
		}
	default:
		text, err := json.Marshal(v)
		f.into[path] = string(text)
		return err
	}
	return nil
}
