package params

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Schema returns the JSON Schema (draft 2020-12) of an object of parameters.
func Schema(list []Parameter) map[string]any {
	properties := make(map[string]any, len(list))
	for _, p := range list {
		properties[p.name] = p.schema()
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func (p Parameter) schema() map[string]any {
	s := map[string]any{}
	switch p.kind {
	case TypeSection:
		s = Schema(p.section)
	case kindText:
		s["type"] = "string"
	case kindFlag:
		s["type"] = "boolean"
	case kindWhole:
		s["type"] = "integer"
	case kindNumber:
		s["type"] = "number"
	case kindBytes:
		s["type"] = []string{"string", "integer"}
	case kindMap:
		s["type"] = "object"
	case kindWords:
		s["type"] = []string{"string", "object"}
	case kindList:
		s["type"] = "array"
	}
	if p.kind == kindText && p.choices != nil {
		s["enum"] = p.choices
	}
	if p.preset != nil {
		s["default"] = p.preset
	}
	s["description"] = strings.TrimSpace(p.doc + " " + p.from)
	p.bound(s)
	return s
}

// bound writes the bounds of a number.
func (p Parameter) bound(s map[string]any) {
	if p.limits == nil {
		return
	}
	low, high := "minimum", "maximum"
	if p.limits.openLow {
		low = "exclusiveMinimum"
	}
	if p.limits.openHigh {
		high = "exclusiveMaximum"
	}
	s[low] = p.limits.low
	if !math.IsInf(p.limits.high, 1) {
		s[high] = p.limits.high
	}
}

// Values returns what a parameter may be set to, by its name with those of its sections, such as "features.scale"; nil
// where that is no choice.
func Values(list []Parameter, name string) []string {
	for _, p := range list {
		if p.name == name && p.kind == kindFlag {
			return []string{"true", "false"}
		}
		if p.name == name {
			return p.choices
		}
		if inner, ok := strings.CutPrefix(name, p.name+"."); ok {
			return Values(p.section, inner)
		}
	}
	return nil
}

// SchemaOf returns the JSON Schema of a type of the spec. A type that reads itself takes anything.
func SchemaOf(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Struct:
		properties := map[string]any{}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			properties[name] = SchemaOf(t.Field(i).Type)
		}
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": SchemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}
