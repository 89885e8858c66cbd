package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Three classes, worked by hand: a cell has its count and its share of the row, one without records is empty.
func TestConfusionByHand(t *testing.T) {
	svg := drawnOf(t, jobs.Figure{Title: "Confusion matrix", Heat: &jobs.HeatMap{Rows: "truth", Columns: "decision",
		RowKeys: []string{"a", "b", "c"}, ColKeys: []string{"a", "b", "c", "(rejected)"},
		Counts: []int64{997, 3, 0, 0, 10, 29, 0, 1, 0, 0, 20_000, 0}}})
	for _, want := range []string{
		">997<", ">&gt;99 %<", ">3<", ">&lt;1 %<", ">10<", ">25 %<", ">29<", ">73 %<", ">1<", ">3 %<", ">20k<", ">100 %<",
		"<title>truth a, decision b: 3 of 1000 (0.30 %)</title>", "<title>Confusion matrix</title>",
		"of 3 by 4. 21026 are on the diagonal. Most elsewhere: truth b, decision a, with 10.</desc>",
		">decision →<", ">truth ↓<", "Rows: truth; columns: decision; a cell has its count and its share of the row",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the matrix lacks %q", want)
		}
	}
	if n := strings.Count(svg, `class="heat"`); n != 6 {
		t.Errorf("%d cells", n)
	}
	_, below, _ := strings.Cut(svg, "</svg>")
	if !strings.Contains(below, `<p class="sub">`) {
		t.Error("the caption is within the picture, where it would be cut")
	}
	if !strings.Contains(below, `<th scope="row">b</th><td class="n">10</td><td class="n">29</td>`) ||
		strings.Contains(drawnOf(t, jobs.Figure{Heat: heatOf(21, "c")}), "<table>") {
		t.Errorf("the counts are no table, or those of 21 classes are: %s", below)
	}
}

// From 2 to 45 classes cells do not overlap, and as much is written in them as fits.
func TestConfusionOfManyClasses(t *testing.T) {
	for n, want := range map[int]struct{ counts, shares bool }{
		2: {true, true}, 10: {true, true}, 20: {true, false}, 45: {false, false},
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := planHeat(heatOf(n, "c"))
			svg := drawnOf(t, jobs.Figure{Heat: heatOf(n, "c")})
			counts, shares := strings.Contains(svg, ">2000<"), strings.Contains(svg, "&gt;99 %<")
			if counts != want.counts || shares != want.shares {
				t.Errorf("cells of %.1f: counts %t, shares %t", p.side, counts, shares)
			}
			if right := p.left + p.side*float64(n); right > p.width || p.side < 12 {
				t.Errorf("cells of %.1f end at %.1f of %.1f", p.side, right, p.width)
			}
			if n := strings.Count(svg, ">c44<"); p.rows == 45 && n < 1 {
				t.Error("the last class has no name")
			}
		})
	}
}

// Only nothing is 0 %, only all is 100 %.
func TestShareText(t *testing.T) {
	for want, c := range map[string][2]int64{"0 %": {0, 5}, "<1 %": {1, 1000}, "1 %": {5, 1000}, "50 %": {1, 2},
		"99 %": {99, 100}, ">99 %": {999, 1000}, "100 %": {7, 7}} {
		if got := shareText(c[0], c[1]); got != want {
			t.Errorf("%v: %q, want %q", c, got, want)
		}
	}
	for want, n := range map[string]int64{"9999": 9999, "10k": 10_000, "9999k": 9_999_999, "10M": 10_000_000} {
		if got := countText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
