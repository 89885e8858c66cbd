package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain größe 猫 \\x1b":             "plain größe 猫 \\x1b",
		"a\x1b[31mX\x07":                  `a\x1b[31mX\x07`,
		"\u009b2J":                        `\u009b2J`,
		"abc\u202egpj.exe":                `abc\u202egpj.exe`,
		"\u2066x\u2069 \u200f \u061c":     `\u2066x\u2069 \u200f \u061c`,
		"a\nb\tc\rd":                      `a\nb\tc\rd`,
		"\x9b2J \xff":                     `\x9b2J \xff`,
		"\x7f\x00":                        `\x7f\x00`,
		"\u2028\ufeff\U000e0041":          `\u2028\ufeff\U000e0041`,
		"\u0080\U000e0000\U000e007f":      `\u0080\U000e0000\U000e007f`,
		"\U000dffff\U000e0080":            "\U000dffff\U000e0080",
		"\xff":                            `\xff`,
		"\ufffd":                          "\ufffd",
		"zero width joiner \u200d \ufffd": "zero width joiner \u200d \ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := VisibleLines("a\tb\r\nc\x1b"); got != "a\tb\\r\nc\\x1b" {
		t.Errorf("lines: %q", got)
	}
}

// Whatever the text, nothing in what is shown steers, and what does not steer is shown as it is.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if strings.IndexFunc(got, Steers) >= 0 || !utf8.ValidString(got) || Visible(got) != got {
			t.Errorf("%q: %q", text, got)
		}
		if utf8.ValidString(text) && strings.IndexFunc(text, Steers) < 0 && got != text {
			t.Errorf("%q: %q", text, got)
		}
	})
}

// Names are printed, and become part of ids: none may hold what steers a terminal.
func TestNamesHoldNoControlCharacters(t *testing.T) {
	for metadata, says := range map[string]string{
		`{"name":"a\u001b[31mX"}`:                    `metadata.name is "a\x1b[31mX"; it may hold no control characters`,
		`{"name":"a\u202eb"}`:                        `metadata.name is "a\u202eb"`,
		`{"name":"a\nb"}`:                            `metadata.name is "a\nb"`,
		`{"labels":{"team":"\u009b2J"}}`:             `metadata.labels has "team": "\u009b2J"`,
		`{"labels":{"a\u0007":"x"}}`:                 `metadata.labels has "a\a": "x"`,
		`{"name":"größe 猫","labels":{"team":"x y"}}`: "",
	} {
		spec, err := ParseSpec([]byte(`{"apiVersion":"v1","kind":"K","metadata":` + metadata +
			`,"spec":{"input":{"uri":"s3://b/in","format":"tsv","label":1,"text":2}}}`))
		if err == nil {
			err = spec.WithDefaults().Validate()
		}
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %s", metadata, err, says)
		}
	}
}
