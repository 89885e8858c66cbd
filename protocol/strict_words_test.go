package protocol

import (
	"strings"
	"testing"
)

// A path shows plain names as they are and quotes all others; a long name is cut at 80 bytes.
func TestNamesInPaths(t *testing.T) {
	eighty := strings.Repeat("n", 80)
	for name, want := range map[string]string{
		"alpha": "alpha", "a-z_A-Z09": "a-z_A-Z09", "0": "0", "9": "9", "a": "a", "z": "z", "A": "A", "Z": "Z",
		"": `""`, "a b": `"a b"`, "a.b": `"a.b"`, "/": `"/"`, ":": `":"`, "`": "\"`\"", "{": `"{"`, "@": `"@"`,
		"[":     `"["`,
		"größe": `"größe"`, "a\x1b": `"a\x1b"`,
		eighty: eighty, eighty + "n": `"` + eighty + `..."`,
		eighty[1:] + " ": `"` + eighty[1:] + ` "`, eighty[1:] + "é": `"` + eighty[1:] + `..."`,
	} {
		if got := within("", name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
		if got := within("spec", name); got != "spec."+want {
			t.Errorf("%q in spec: %s, want spec.%s", name, got, want)
		}
	}
}
