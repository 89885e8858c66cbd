package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Steers reports whether a character changes how the text around it is shown instead of being shown: control
// characters (ESC, BEL, C1), those that turn the direction of text, line separators, and tags, which nobody sees.
func Steers(r rune) bool {
	switch {
	case r < 0x80: // nearly all are: a page is looked at as a whole
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// Visible writes every character that steers, and every byte that is not UTF-8, as Go's escapes: \x1b, \u202e. A
// terminal and a page then show a label and do not obey it. A backslash stays as it is.
func Visible(text string) string { return visible(text, "") }

// VisibleLines is Visible of a text with lines: line ends and tabs stay.
func VisibleLines(text string) string { return visible(text, "\n\t") }

func visible(text, keep string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || Steers(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !Steers(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			b.WriteString(escaped(r))
		}
	}
	return b.String()
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
