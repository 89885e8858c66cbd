package dataset

import "testing"

// The fault of a text that is not JSON is at the first wrong byte, or at the last byte if the text ends too early.
func TestCheckJSONByHand(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "{": 0, "x": 0, `{"a":1`: 5, `{"a" 1}`: 5, `{} x`: 3, `{"a":01}`: 6, "[1,]": 3,
	} {
		if bad := checkJSON([]byte(text)); bad.reason != badJSON || bad.at != want || !bad.inLine {
			t.Errorf("%q: %+v, want byte %d", text, bad, want)
		}
	}
	for _, text := range []string{"{}", " [1] ", `"x"`, "0"} {
		if bad := checkJSON([]byte(text)); bad.reason != "" {
			t.Errorf("%q: %+v", text, bad)
		}
	}
}
