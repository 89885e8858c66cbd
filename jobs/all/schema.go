package all

import (
	"reflect"

	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Schema returns the JSON Schema (draft 2020-12) of specs, with the parameters of each kind.
func Schema() map[string]any {
	var names []string
	var rules []any
	for _, kind := range Kinds() {
		names = append(names, kind.Name)
		rules = append(rules, map[string]any{
			"if":   within("kind", map[string]any{"const": kind.Name}),
			"then": within("spec", within("params", params.Schema(kind.Params.List()))),
		})
	}
	schema := params.SchemaOf(reflect.TypeFor[protocol.JobSpec]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "A job of Gram"
	schema["required"] = []string{"apiVersion", "kind", "spec"}
	properties := schema["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": protocol.APIVersion}
	properties["kind"] = map[string]any{"enum": names}
	schema["allOf"] = rules
	return schema
}

// within is the schema of an object with a property.
func within(name string, schema map[string]any) map[string]any {
	return map[string]any{"properties": map[string]any{name: schema}}
}
