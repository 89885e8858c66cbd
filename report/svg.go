package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
)

// svg gathers the elements of a picture. Text and lines take their colors from the sheet, so that they can be read on
// dark pages as well; nothing has a style of its own, which pages refuse.
type svg struct {
	bytes.Buffer
	width, height float64
}

// The widths of pictures in their own units, and the classes of the sheet that say how far they shrink: text of 13
// units keeps 10 pixels on a telephone. A chart fits a telephone, a wide picture scrolls there.
const (
	chartWidth, wideWidth = 460, 760
	chartClass, wideClass = "chart", "wide"
	// charWidth is about what a character takes, of the wider fonts.
	charWidth = 7.6
)

// newPicture begins a picture with what it shows, in a few words, and a description for those who do not see it.
func newPicture(class string, width, height float64, title, desc string) *svg {
	s := &svg{width: width, height: height}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" class="%s" role="img">`+"\n", px(width),
		px(height), class)
	if title != "" {
		fmt.Fprintf(s, "<title>%s</title>\n", escape(title))
	}
	if desc != "" {
		fmt.Fprintf(s, "<desc>%s</desc>\n", escape(desc))
	}
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

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(s, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// shorten cuts a label to a number of runes.
func shorten(label string, most int) string {
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}

// fitting is how many characters a width has room for.
func fitting(width float64) int { return int(width / charWidth) }

// widthOf is about what words take.
func widthOf(words string) float64 { return charWidth * float64(len([]rune(words))) }
