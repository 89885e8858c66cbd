package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxParamText bounds what the page shows of the params; provenance.json has all of them.
const maxParamText = 2000

// paramText writes params for people: "features.scale none, k 10". Lists stay as they are in JSON.
func paramText(params json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return string(params)
	}
	text := []rune(strings.Join(flatParams(nil, "", value), ", "))
	if len(text) > maxParamText {
		return string(text[:maxParamText]) + "…"
	}
	return string(text)
}

// flatParams adds the values below a name, in order of their names.
func flatParams(list []string, name string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = flatParams(list, strings.TrimPrefix(name+"."+key, "."), v[key])
		}
		return list
	case []any:
		data, err := json.Marshal(v)
		if err != nil {
			return list
		}
		return append(list, name+" "+string(data))
	}
	return append(list, fmt.Sprintf("%s %v", name, value))
}
