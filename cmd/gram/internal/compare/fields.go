package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Field is a value that differs, as JSON; "" where a job has none.
type Field struct {
	Path  string `json:"path"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

// fields compares two JSON values, field by field, in order of path.
func fields(left, right json.RawMessage) ([]Field, error) {
	a, err := flat(left)
	if err != nil {
		return nil, err
	}
	b, err := flat(right)
	if err != nil {
		return nil, err
	}
	return differing(a, b), nil
}

func differing(a, b map[string]string) []Field {
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

// flat lists the values of a JSON value that hold no others, by path.
func flat(data json.RawMessage) (map[string]string, error) {
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

// dataSet lists the objects of a data set: at most the first thousand of each list.
type dataSet struct {
	Objects []object `json:"objects"`
	Count   int      `json:"object_count"`
	Labels  []object `json:"labels"` // of labels_uri
	IDs     []object `json:"ids"`    // of ids_uri
}

// object is an input object as provenance lists it.
type object struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	ETag   string `json:"etag"`
	Digest string `json:"digest"`
}

// inputs compares the objects that were read, and the models that were begun from. ETags of different kinds of store
// differ for the same bytes, so they count only where there is no digest.
func inputs(left, right provenance) []Field {
	a, b := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		of   provenance
		into map[string]string
	}{{left, a}, {right, b}} {
		for name, objects := range map[string][]object{
			"input": side.of.Objects, "input labels": side.of.Labels, "input ids": side.of.IDs,
			"queries": side.of.Queries.Objects, "queries labels": side.of.Queries.Labels,
			"queries ids": side.of.Queries.IDs,
		} {
			for _, o := range objects {
				size := strconv.FormatInt(o.Size, 10)
				side.into[name+" "+o.Key] = size + " bytes, " + cmp.Or(o.Digest, "etag "+o.ETag)
			}
		}
		if model := string(side.of.InitialModel); model != "" && model != "null" {
			side.into["model"] = model
		}
	}
	found := differing(a, b)
	if len(found) == 0 && (left.unlisted() || right.unlisted()) && left.Manifest != right.Manifest {
		found = append(found, Field{"objects that are not listed", "manifest " + left.Manifest.SHA256,
			"manifest " + right.Manifest.SHA256})
	}
	return found
}

// unlisted reports whether the input has more objects than provenance lists.
func (d dataSet) unlisted() bool { return d.Count > len(d.Objects) }

func builds(left, right provenance) []Field {
	of := func(p provenance) map[string]string {
		return map[string]string{"build": p.Build, "go": p.Go, "kernels": strings.Join(p.Kernels, ", ")}
	}
	return differing(of(left), of(right))
}
