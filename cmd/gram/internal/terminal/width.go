package terminal

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// TextWidth is how many columns of a terminal a text takes.
func TextWidth(text string) (columns int) {
	for _, r := range text {
		columns += widthOf(r)
	}
	return columns
}

// widthOf is 2 for a character of East Asian width W or F (Unicode Standard Annex 11), and 0 for one that is put onto
// the character before it or is not seen. So are Korean vowels, which follow a consonant.
func widthOf(r rune) int {
	if r < 0x300 {
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1160 && r <= 0x11ff {
		return 0
	}
	return 1
}

// Pad puts spaces behind a text until it takes some columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-TextWidth(text)))
}

// Shorten cuts a text to a number of columns, and shows that it did.
func Shorten(text string, columns int) string {
	if TextWidth(text) <= columns {
		return text
	}
	dots := "..."
	if columns <= len(dots) {
		dots = ""
	}
	left := max(columns, 0) - len(dots)
	for i, r := range text {
		if left -= widthOf(r); left < 0 {
			return text[:i] + dots
		}
	}
	return text + dots
}
