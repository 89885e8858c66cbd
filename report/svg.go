package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
)

// palette has colors that the color-blind tell apart (Okabe and Ito, "Color Universal
// Design", 2008), in the order in which series take them.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"}

// referenceColor is that of lines which others are compared with.
const referenceColor = "#6b6b6b"

// svg gathers the elements of a picture. Text takes the page's colors (classes "ink" and
// "faint"), so that it can be read on dark pages as well.
type svg struct {
	bytes.Buffer
	width, height float64
}

// legibleShare is how far a picture shrinks before its text could not be read: then it is scrolled.
const legibleShare = 0.7

func newSVG(width, height float64) *svg {
	s := &svg{width: width, height: height}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" style="min-width:%spx;max-width:%spx" `+
		`role="img">`+"\n", px(width), px(height), px(legibleShare*width), px(width))
	return s
}

func (s *svg) end() []byte {
	s.WriteString("</svg>\n")
	return s.Bytes()
}

// px writes a length with at most two decimals.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

func (s *svg) text(x, y float64, anchor, class, words string) {
	fmt.Fprintf(s, `<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", px(x), px(y), anchor, class,
		html.EscapeString(words))
}

// vertical writes from below to above, unless the words are so short that they can stand.
func (s *svg) vertical(x, y float64, words string) {
	if len(words) < 3 {
		s.text(x, y+4, "middle", "ink", words)
		return
	}
	fmt.Fprintf(s, `<text transform="translate(%s %s) rotate(-90)" text-anchor="middle" class="ink">%s</text>`+"\n",
		px(x), px(y), html.EscapeString(words))
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(s, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// number writes a value with three significant digits.
func number(v float64) string {
	if v == 0 {
		return "0" // of -0, too
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// shorten cuts a label to a number of runes.
func shorten(label string, most int) string {
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}
