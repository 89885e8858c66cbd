package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/style"
)

// Param is a parameter of the spec, such as "features.scale", and its value as people read it.
type Param struct {
	Name, Value string
	Exact       string // the value in full, where Value is rounded
}

// Bounds of what the page shows of the params; the spec below them has all.
const (
	maxParams    = 200
	maxParamText = 200
	maxTitled    = 5 // in the page's title
)

// ParamsOf parts the params of a spec, in which every default is written, into those that differ from their kind's
// defaults and those that equal them. Params of texts are left out where the input holds no text. Of a kind that
// declares none, all count as set.
func ParamsOf(kind jobs.Kind, spec protocol.JobSpec) (set, defaults []Param) {
	dec := json.NewDecoder(bytes.NewReader(spec.Spec.Params))
	dec.UseNumber()
	var value map[string]any
	if err := dec.Decode(&value); err != nil {
		return nil, nil
	}
	t := paramTable{kind: kind, whole: value, declared: map[string]params.Row{}, texts: holdsTexts(spec.Spec.Input)}
	if kind.Params.List != nil {
		for _, row := range params.Rows(kind.Params.List()) {
			t.declared[row.Name] = row
		}
	}
	t.add(nil, value)
	return t.set[:min(len(t.set), maxParams)], t.defaults[:min(len(t.defaults), maxParams)]
}

// holdsTexts reports whether the records of an input are texts.
func holdsTexts(in protocol.Input) bool {
	return !in.Text.IsZero() || in.Format == "document" || in.Format == "mail"
}

// paramTable collects params.
type paramTable struct {
	kind          jobs.Kind
	whole         map[string]any // all params
	declared      map[string]params.Row
	texts         bool
	set, defaults []Param
}

// add takes what is below a path, in order of the names.
func (t *paramTable) add(path []string, value map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(value)) {
		at := append(slices.Clip(path), key)
		name := strings.Join(at, ".")
		row, declared := t.declared[name]
		if !t.texts && key == "text" {
			continue
		}
		if below, is := value[key].(map[string]any); is && (!declared || row.Type == params.TypeSection) {
			t.add(at, below)
			continue
		}
		p := paramOf(name, value[key], row)
		if declared && (isDefault(value[key], row) || t.comesBack(at, value[key])) {
			t.defaults = append(t.defaults, p)
		} else {
			t.set = append(t.set, p)
		}
	}
}

// comesBack reports whether a spec without the param at a path gets the same value: its default is no constant.
func (t *paramTable) comesBack(path []string, value any) bool {
	if t.kind.Params.Defaults == nil {
		return false
	}
	data, err := json.Marshal(without(t.whole, path))
	if err != nil {
		return false
	}
	if data, err = t.kind.Defaults(data); err != nil {
		return false // it must be given
	}
	var again any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&again) != nil {
		return false
	}
	for _, key := range path {
		below, _ := again.(map[string]any)
		again = below[key]
	}
	return valueText(again) == valueText(value)
}

// without is a copy of an object that lacks what is at a path.
func without(value map[string]any, path []string) map[string]any {
	rest := maps.Clone(value)
	if below, is := value[path[0]].(map[string]any); is && len(path) > 1 {
		rest[path[0]] = without(below, path[1:])
	} else {
		delete(rest, path[0])
	}
	return rest
}

// paramOf writes a value for people: sizes in units, lists as in JSON.
func paramOf(name string, value any, row params.Row) Param {
	text := valueText(value)
	switch v := value.(type) {
	case nil:
		text = "none"
		if row.Default != "" {
			text = row.Default
		}
	case json.Number:
		if n, err := v.Int64(); err == nil && row.Type == "size" && n >= 1024 {
			return Param{name, style.Size(n), style.Count(n) + " bytes"}
		}
	}
	return Param{Name: name, Value: shorten(text, maxParamText)}
}

func valueText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []any, map[string]any:
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(data)
	}
	return fmt.Sprint(value)
}

// isDefault reports whether a value is what a spec that does not name it has.
func isDefault(value any, row params.Row) bool {
	switch text := valueText(value); text {
	case "", "[]", "{}":
		return true
	case row.Default:
		return true
	default:
		a, err := strconv.ParseFloat(text, 64)
		b, err2 := strconv.ParseFloat(row.Default, 64)
		return err == nil && err2 == nil && a == b
	}
}

// titled is what tells tuned runs apart: the params that are set, as far as a title has room.
func titled(set []Param) string {
	var words []string
	for _, p := range set {
		if len(words) == maxTitled {
			return strings.Join(words, ", ") + ", …"
		}
		if len(p.Name)+len(p.Value) <= 40 {
			words = append(words, p.Name+" "+p.Value)
		}
	}
	return strings.Join(words, ", ")
}
