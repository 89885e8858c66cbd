package report

import (
	"fmt"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// maxHeatKeys bounds the rows and columns that are drawn: more could not be read.
const maxHeatKeys = 60

// heatMap draws a matrix of counts; the darker a cell, the larger its share of its row.
func heatMap(h *jobs.HeatMap) []byte {
	rows, cols := min(len(h.RowKeys), maxHeatKeys), min(len(h.ColKeys), maxHeatKeys)
	side := math.Max(14, math.Min(44, 560/float64(max(rows, cols, 1))))
	left, top := 30+keyWidth(h.RowKeys[:rows]), 30+keyWidth(h.ColKeys[:cols])
	s := newSVG(left+side*float64(cols)+20, top+side*float64(rows)+6)
	flat := keyWidth(h.ColKeys[:cols]) < side-4 // short enough to stand side by side
	for j, key := range h.ColKeys[:cols] {
		x := left + side*(float64(j)+0.5)
		if flat {
			s.text(x, top-8, "middle", "ink", key)
			continue
		}
		fmt.Fprintf(s, `<text transform="translate(%s %s) rotate(-90)" class="ink">%s</text>`+"\n", px(x+4), px(top-8),
			escape(shorten(key, 24)))
	}
	for i, key := range h.RowKeys[:rows] {
		y := top + side*float64(i)
		s.text(left-8, y+side/2+4, "end", "ink", shorten(key, 24))
		counts := h.Counts[i*len(h.ColKeys) : (i+1)*len(h.ColKeys)]
		total := int64(0)
		for _, n := range counts {
			total += n
		}
		for j, n := range counts[:cols] {
			heatCell(s, left+side*float64(j), y, side, n, total,
				fmt.Sprintf("%s %s, %s %s: %d", h.Rows, key, h.Columns, h.ColKeys[j], n))
		}
	}
	fmt.Fprintf(s, "</svg>\n<p class=\"sub\">Rows: %s; columns: %s; shade: share of the row.</p>\n", escape(h.Rows),
		escape(h.Columns))
	return s.Bytes()
}

func heatCell(s *svg, x, y, side float64, n, total int64, title string) {
	share := 0.0
	if total > 0 {
		share = float64(n) / float64(total)
	}
	// The root makes the few mistakes of a good classifier visible beside its diagonal.
	fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" class="cell" fill="#0072b2" fill-opacity="%.3f"><title>%s</title></rect>`+"\n",
		px(x), px(y), px(side), px(side), math.Sqrt(share), escape(title))
	if n > 0 && side >= 24 {
		class := "ink"
		if share > 0.7 { // below, white is not read on it
			class = "onfill"
		}
		s.text(x+side/2, y+side/2+4, "middle", class+" small", countText(n))
	}
}

// countText writes a count in at most four characters where it can.
func countText(n int64) string {
	if n >= 10_000 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// keyWidth is about what the longest key takes.
func keyWidth(keys []string) float64 {
	longest := 0
	for _, k := range keys {
		longest = max(longest, len([]rune(shorten(k, 24))))
	}
	return 7 * float64(longest)
}
