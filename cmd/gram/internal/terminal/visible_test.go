package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
)

// A text may come in pieces that end within a character.
func TestVisibleWriterInPieces(t *testing.T) {
	const text = "größe\t猫\x1b[2J\u202e\x9b\U000e0041\xff\xe7\x8c\n\xf0\x9f\x90"
	want := protocol.VisibleLines(text)
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := terminal.NewVisibleWriter(&out)
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			piece := rest[:min(size, len(rest))]
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}

// JSON with escapes means the same, and steers nothing.
func TestJSONIsEscaped(t *testing.T) {
	const text = "größe \u007f\u009b2J\u202e\U000e0041 猫"
	plain, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	got := terminal.JSON(plain)
	var back string
	if err := json.Unmarshal(got, &back); err != nil || back != text ||
		strings.ContainsFunc(string(got), protocol.Steers) {
		t.Errorf("%s: %q, %v", got, back, err)
	}
}
