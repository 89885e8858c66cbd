package terminal

import (
	"strings"
	"unicode"
)

// wide are the characters that take two columns of a terminal: those of East Asian width W and F, and pictures (Unicode
// Standard Annex 11, "East Asian Width").
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1},
		{0x4e00, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x16fe0, 0x18cff, 1}, {0x1b000, 0x1b2ff, 1}, {0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}

// TextWidth is how many columns of a terminal a text takes.
func TextWidth(text string) (columns int) {
	for _, r := range text {
		columns += widthOf(r)
	}
	return columns
}

// widthOf is 0 for a mark that is put onto the character before it.
func widthOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(wide, r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me), r >= 0x1160 && r <= 0x11ff: // Korean vowels follow a wide consonant
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
