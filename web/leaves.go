package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/style"
)

// The measures of the picture of leaves, in its own units.
const (
	cellsOfRow = 32
	cellPitch  = 10.0 // from one square to the next
	cellSide   = 9.0
	leastBar   = 1.0 // of a state that few leaves of a square have: what runs or failed is never too small to see
)

// leafView is the open round's leaves by state: how many of each, and a picture.
type leafView struct {
	Phase                           string
	Round                           uint32
	All, Committed, Running, Failed uint64
	Waiting                         uint64
	Merges                          uint32
	PerCell                         float64 // leaves of a square
	Picture                         template.HTML
}

// Picture is how the leaves are; nil where no round is open.
func (k *shown) Picture() *leafView { return leavesOf(k.Leaves) }

func leavesOf(l *pb.LeavesResponse) *leafView {
	cells := len(l.GetCommittedByRange())
	if cells == 0 || len(l.GetRunningByRange()) != cells || len(l.GetFailedByRange()) != cells ||
		l.GetLeaves() < uint64(cells) {
		return nil
	}
	v := &leafView{Phase: l.GetPhase(), Round: l.GetRound(), All: l.GetLeaves(), Committed: l.GetCommitted(),
		Merges: l.GetMerges(), PerCell: float64(l.GetLeaves()) / float64(cells)}
	for i := range cells {
		v.Running += uint64(l.GetRunningByRange()[i])
		v.Failed += uint64(l.GetFailedByRange()[i])
	}
	if busy := v.Committed + v.Running + v.Failed; busy < v.All {
		v.Waiting = v.All - busy
	}
	v.Picture = v.draw(l)
	return v
}

// Text is what the picture shows, for those who do not see it.
func (v *leafView) Text() string {
	return fmt.Sprintf("Leaves of round %d: %s of %s committed, %s running, %s failed and waiting for another try, "+
		"%s waiting", v.Round, count(v.Committed), count(v.All), count(v.Running), count(v.Failed), count(v.Waiting))
}

// draw makes the picture: a square for each range of leaves, filled from below by how many are committed, run, or
// failed. It has one path for each state, so that its size is the same for a million leaves as for a thousand.
func (v *leafView) draw(l *pb.LeavesResponse) template.HTML {
	cells := len(l.GetCommittedByRange())
	rows := (cells + cellsOfRow - 1) / cellsOfRow
	var waiting, committed, running, failed strings.Builder
	for i := range cells {
		first, end := uint64(i)*l.GetLeaves()/uint64(cells), uint64(i+1)*l.GetLeaves()/uint64(cells)
		heights := heightsOf([3]uint32{l.GetCommittedByRange()[i], l.GetRunningByRange()[i], l.GetFailedByRange()[i]},
			float64(end-first))
		x, y := cellPitch*float64(i%cellsOfRow), cellPitch*float64(i/cellsOfRow)
		bar(&waiting, x, y, cellSide)
		bottom := y + cellSide
		for state, path := range []*strings.Builder{&committed, &running, &failed} {
			bottom -= heights[state]
			bar(path, x, bottom, heights[state])
		}
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="leaves" viewBox="0 0 %s %s" role="img" aria-label="%s">`,
		short(cellPitch*cellsOfRow-1), short(cellPitch*float64(rows)-1), template.HTMLEscapeString(v.Text()))
	for _, path := range []struct {
		class string
		d     *strings.Builder
	}{{"waits", &waiting}, {"done", &committed}, {"runs", &running}, {"fails", &failed}} {
		if path.d.Len() > 0 {
			fmt.Fprintf(&svg, `<path class="%s" d="%s"/>`, path.class, path.d.String())
		}
	}
	svg.WriteString("</svg>")
	return template.HTML(svg.String()) // our own, its text escaped
}

// heightsOf are the heights of a square's bars: the shares of its leaves, but none that is there is too small to see.
func heightsOf(counts [3]uint32, leaves float64) (heights [3]float64) {
	left := cellSide
	for state := 2; state >= 0; state-- { // what failed or runs comes before what is done, which is most
		if counts[state] > 0 {
			heights[state] = min(left, max(leastBar, cellSide*float64(counts[state])/leaves))
			left -= heights[state]
		}
	}
	return heights
}

// bar adds a bar of a square to a path.
func bar(path *strings.Builder, x, y, height float64) {
	if height > 0 {
		fmt.Fprintf(path, "M%s %sh9v%sh-9z", short(x), short(y), short(height))
	}
}

// short writes a length with at most one decimal.
func short(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// count writes a whole number with its thousands apart.
func count[N ~int | ~int64 | ~uint32 | ~uint64](n N) string {
	return style.Count(int64(n)) //lint:checked counts of what exists
}

// anyCount is count for templates, whose numbers are of several types.
func anyCount(n any) string {
	switch n := n.(type) {
	case uint32:
		return count(n)
	case uint64:
		return count(n)
	case int64:
		return count(n)
	case int:
		return count(n)
	}
	return fmt.Sprint(n)
}
