package protocol

import (
	"strings"
	"testing"
)

// Names that readers take for one another are refused, but for those of labels.
func TestCheckAlike(t *testing.T) {
	for text, good := range map[string]bool{
		`{"model":1,"b":[{"x":1},{"x":2}],"spec":{"costs":{"a":1,"A":2}}}`: true,
		`{"model":1,"Model":2}`:  false,
		`{"model":1,"model":1}`:  false,
		`{"b":[{"x":1,"X":2}]}`:  false,
		`{"spec":{"a":1,"a":2}}`: false,
		`{"spec":1,"SPEC":2}`:    false,
		`{"Model":1}`:            false, // other readers find no model
		`{"cost":1,"coſt":2}`:    false, // encoding/json takes the long s for an s
		`{"kind":1,"Kind":2}`:    false, // and the Kelvin sign for a k
		`{"spec":{"ſ":1,"s":2}}`: true,
		`[1,"a",null]`:           true,
		`{"a":`:                  false,
		``:                       false,
		strings.Repeat("[", 64) + strings.Repeat("]", 64): true,
		strings.Repeat("[", 65) + strings.Repeat("]", 65): false,
		strings.Repeat("[", 16<<20):                       false, // no stack holds it
	} {
		if err := CheckAlike([]byte(text), "spec"); (err == nil) != good {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}
