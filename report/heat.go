package report

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// maxHeatKeys bounds the rows and columns that are drawn: more could not be read.
const maxHeatKeys = 60

// Cells of at least these sides have their share, their count.
const (
	shareSide = 38
	countSide = 29
	mostSide  = 76
)

// mostRows is how many characters of what a row is are shown.
const mostRows = 16

// heatPlan is where the cells of a matrix are.
type heatPlan struct {
	h               *jobs.HeatMap
	rows, cols      int // drawn
	left, top, side float64
	flat            bool // keys of columns stand side by side
	class           string
	width           float64
}

func planHeat(h *jobs.HeatMap) heatPlan {
	p := heatPlan{h: h, rows: min(len(h.RowKeys), maxHeatKeys), cols: min(len(h.ColKeys), maxHeatKeys),
		class: chartClass, width: chartWidth}
	if max(p.rows, p.cols) > 11 {
		p.class, p.width = wideClass, wideWidth
	}
	p.left = 14 + min(keyWidth(h.RowKeys[:p.rows]), p.width/4)
	p.left = max(p.left, widthOf(shorten(h.Rows, mostRows))+34)
	p.side = max(8, min(mostSide, (p.width-p.left-6)/float64(max(1, p.cols))))
	keys := keyWidth(h.ColKeys[:p.cols])
	p.top = 46
	if p.flat = keys < p.side-4; !p.flat {
		p.top = 36 + keys
	}
	return p
}

// heatMap draws a matrix of counts; the darker a cell, the larger its share of its row.
func heatMap(title string, h *jobs.HeatMap) []byte {
	p := planHeat(h)
	s := newPicture(p.class, p.width, p.top+p.side*float64(p.rows)+8, title, describeHeat(h))
	s.text(p.left, 16, "start", "faint", shorten(h.Columns+" →", 40))
	s.text(p.left-10, p.top-8, "end", "faint", shorten(h.Rows, mostRows)+" ↓")
	fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" class="frame"/>`+"\n", px(p.left), px(p.top),
		px(p.side*float64(p.cols)), px(p.side*float64(p.rows)))
	every := 1 + int(13/p.side) // keys that would touch
	for j := 0; j < p.cols; j += every {
		p.columnKey(s, j)
	}
	for i := range p.rows {
		if i%every == 0 {
			s.text(p.left-10, p.top+p.side*(float64(i)+0.5)+4, "end", "ink", shorten(h.RowKeys[i],
				min(mostKey, fitting(p.left-12))))
		}
		p.row(s, i)
	}
	for j := 1; j < p.cols && p.side >= countSide; j++ {
		s.line(p.left+p.side*float64(j), p.top, p.left+p.side*float64(j), p.top+p.side*float64(p.rows), "grid")
	}
	for i := 1; i < p.rows && p.side >= countSide; i++ {
		s.line(p.left, p.top+p.side*float64(i), p.left+p.side*float64(p.cols), p.top+p.side*float64(i), "grid")
	}
	s.end()
	text := "the shade is the share of the row."
	if p.side >= shareSide {
		text = "a cell has its count and its share of the row, which is the shade."
	} else if p.side >= countSide {
		text = "a cell has its count; " + text
	}
	fmt.Fprintf(s, "<p class=\"sub\">Rows: %s; columns: %s; %s</p>\n", escape(h.Rows), escape(h.Columns), text)
	if max(p.rows, p.cols) <= mostTable {
		heatTable(s, h)
	}
	return s.Bytes()
}

// mostTable is up to how many rows and columns counts are a table, too.
const mostTable = 20

// heatTable writes the counts as a table, for those who do not see the picture.
func heatTable(s *svg, h *jobs.HeatMap) {
	fmt.Fprintf(s, "<details><summary>The counts as a table</summary>\n<table>\n<tr><th scope=\"col\">%s \\ %s</th>",
		escape(h.Rows), escape(h.Columns))
	for _, key := range h.ColKeys {
		fmt.Fprintf(s, `<th scope="col" class="n">%s</th>`, escape(key))
	}
	for i, key := range h.RowKeys {
		fmt.Fprintf(s, "</tr>\n<tr><th scope=\"row\">%s</th>", escape(key))
		for _, n := range h.Counts[i*len(h.ColKeys) : (i+1)*len(h.ColKeys)] {
			fmt.Fprintf(s, `<td class="n">%d</td>`, n)
		}
	}
	s.WriteString("</tr>\n</table></details>\n")
}

func (p heatPlan) columnKey(s *svg, j int) {
	x, key := p.left+p.side*(float64(j)+0.5), shorten(p.h.ColKeys[j], mostKey)
	if p.flat {
		s.text(x, p.top-8, "middle", "ink", key)
		return
	}
	fmt.Fprintf(s, `<text transform="translate(%s %s) rotate(-90)" class="ink">%s</text>`+"\n", px(x+4), px(p.top-8),
		escape(key))
}

// row draws the cells above 0 of a row.
func (p heatPlan) row(s *svg, i int) {
	counts := p.h.Counts[i*len(p.h.ColKeys) : (i+1)*len(p.h.ColKeys)]
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	for j, n := range counts[:p.cols] {
		if n > 0 {
			p.cell(s, i, j, n, total)
		}
	}
}

func (p heatPlan) cell(s *svg, i, j int, n, total int64) {
	share := float64(n) / float64(total)
	x, y := p.left+p.side*float64(j), p.top+p.side*float64(i)
	// The root makes the few mistakes of a good classifier visible beside its diagonal.
	fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" class="heat" fill-opacity="%.3f">`, px(x), px(y),
		px(p.side), px(p.side), math.Sqrt(share))
	fmt.Fprintf(s, "<title>%s</title></rect>\n", escape(fmt.Sprintf("%s %s, %s %s: %d of %d (%.2f %%)", p.h.Rows,
		p.h.RowKeys[i], p.h.Columns, p.h.ColKeys[j], n, total, 100*share)))
	class := "ink"
	if share > 0.7 { // below, white is not read on it
		class = "onfill"
	}
	switch {
	case p.side >= shareSide:
		s.text(x+p.side/2, y+p.side/2-3, "middle", class, countText(n))
		s.text(x+p.side/2, y+p.side/2+13, "middle", class, shareText(n, total))
	case p.side >= countSide:
		s.text(x+p.side/2, y+p.side/2+4, "middle", class, countText(n))
	}
}

// countText writes a count in at most four characters where it can.
func countText(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// shareText writes a share in at most five characters; only nothing is 0 %, and only all is 100 %.
func shareText(n, total int64) string {
	switch whole := int64(math.Round(100 * float64(n) / float64(total))); {
	case n < total && whole > 99:
		return ">99 %"
	case n > 0 && whole < 1:
		return "<1 %"
	default:
		return fmt.Sprintf("%d %%", whole)
	}
}

// mostKey is how many characters of a key are shown.
const mostKey = 24

// keyWidth is about what the longest key takes.
func keyWidth(keys []string) float64 {
	longest := 0.0
	for _, k := range keys {
		longest = max(longest, widthOf(shorten(k, mostKey)))
	}
	return longest
}

// describeHeat tells what a matrix shows, for those who do not see it.
func describeHeat(h *jobs.HeatMap) string {
	var total, same, most int64
	var at int
	for i, n := range h.Counts {
		total += n
		if row, col := i/len(h.ColKeys), i%len(h.ColKeys); h.RowKeys[row] == h.ColKeys[col] {
			same += n
			continue
		}
		if n > most {
			most, at = n, i
		}
	}
	text := fmt.Sprintf("Counts of %d in a matrix, %s by %s, of %d by %d.", total, h.Rows, h.Columns, len(h.RowKeys),
		len(h.ColKeys))
	if same > 0 {
		text += fmt.Sprintf(" %d are on the diagonal.", same)
	}
	if most > 0 {
		text += fmt.Sprintf(" Most elsewhere: %s %s, %s %s, with %d.", h.Rows, h.RowKeys[at/len(h.ColKeys)], h.Columns,
			h.ColKeys[at%len(h.ColKeys)], most)
	}
	return text
}
