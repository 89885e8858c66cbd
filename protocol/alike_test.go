package protocol

import "testing"

// Names that readers take for one another are refused, but for those of labels.
func TestCheckAlike(t *testing.T) {
	for text, good := range map[string]bool{
		`{"model":1,"b":[{"x":1},{"x":2}],"spec":{"costs":{"a":1,"A":2}}}`: true,
		`{"model":1,"Model":2}`:  false,
		`{"model":1,"model":1}`:  false,
		`{"b":[{"x":1,"X":2}]}`:  false,
		`{"spec":{"a":1,"a":2}}`: false,
		`{"spec":1,"SPEC":2}`:    false,
		`[1,"a",null]`:           true,
		`{"a":`:                  false,
		``:                       false,
	} {
		if err := CheckAlike([]byte(text), "spec"); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
