package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// VisibleWriter passes lines of text on with protocol.VisibleLines. Close writes what is left of a character that
// was cut, and leaves w open.
type VisibleWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// NewVisibleWriter returns a VisibleWriter before w.
func NewVisibleWriter(w io.Writer) *VisibleWriter { return &VisibleWriter{w: w} }

// Write implements io.Writer.
func (v *VisibleWriter) Write(p []byte) (int, error) {
	data := append(v.rest, p...)
	whole := len(data)
	for i := max(0, len(data)-utf8.UTFMax+1); i < len(data); i++ {
		if utf8.RuneStart(data[i]) && !utf8.FullRune(data[i:]) {
			whole = i
			break
		}
	}
	v.rest = append([]byte(nil), data[whole:]...)
	if _, err := io.WriteString(v.w, protocol.VisibleLines(string(data[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is left.
func (v *VisibleWriter) Close() error {
	_, err := io.WriteString(v.w, protocol.VisibleLines(string(v.rest)))
	v.rest = nil
	return err
}

// JSON writes characters that steer a terminal as JSON's own escapes, which mean the same. Those below 0x20 are escaped
// in JSON anyway.
func JSON(data []byte) []byte {
	if strings.IndexFunc(string(data), func(r rune) bool { return r >= 0x7f && protocol.Steers(r) }) < 0 {
		return data
	}
	var b strings.Builder
	for _, r := range string(data) {
		switch {
		case r < 0x7f || !protocol.Steers(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

// JSONWriter passes JSON texts on with JSON; each Write is whole characters, as those of an encoder are.
type JSONWriter struct{ W io.Writer }

// Write implements io.Writer.
func (j JSONWriter) Write(p []byte) (int, error) {
	if _, err := j.W.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
