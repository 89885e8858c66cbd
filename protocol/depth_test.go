package protocol

import (
	"errors"
	"strings"
	"testing"
)

// A spec's values are nested at most 16 deep and it is at most 64 KiB long; both are found before anything is built.
func TestSpecsAreBounded(t *testing.T) {
	nested := func(depth int) string { // the spec, its spec and its params are three of them
		return `{"apiVersion":"v1","kind":"K","metadata":{},"spec":{"input":{"uri":"s3://bucket/x","format":"tsv"},"output":{},"repro":{"seed":1},"run":{},` +
			`"params":{"a":` + strings.Repeat("[", depth-3) + strings.Repeat("]", depth-3) + `}}}`
	}
	if _, err := ParseSpec([]byte(nested(16))); err != nil {
		t.Errorf("16 deep: %v", err)
	}
	for name, text := range map[string]string{
		"17 deep":      nested(17),
		"endless":      strings.Repeat("[", 60<<10),
		"objects":      strings.Repeat(`{"a":`, 10<<10),
		"never closed": `{"spec":{"params":` + strings.Repeat("[", 20),
		"long":         `{"metadata":{"name":"` + strings.Repeat("a", MaxSpecBytes) + `"}}`,
		"unknown":      `{"apiVersion":"v1","exec":"sh"}`,
		"twice":        nested(4) + nested(4),
	} {
		_, err := ParseSpec([]byte(text))
		var fault *Fault
		if !errors.As(err, &fault) || fault.Code != CodeSpecInvalid || len(err.Error()) > 300 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
