package kernelops

import (
	"slices"
	"testing"
)

// TestMeet demands that every panel meets every block of rows once, the rows in order, a part of
// the panels a strip of the rows at a time.
func TestMeet(t *testing.T) {
	for _, c := range []struct {
		name            string
		rows, cols, dim int
		strip, part     int // rows and panels that fit
	}{
		{"no panel", 5, 0, 7, 0, 0},
		{"one of each", 5, 40, 7, 0, 0},
		{"a part a panel, a strip a block", 2*blockRows + 5, 2*maxWidth + 1, stripBytes / 4 / blockRows, blockRows, 1},
		{"strips of two blocks", 5 * blockRows, 3 * maxWidth, stripBytes / 8 / blockRows, 2 * blockRows, 1},
		{"parts of two panels", 3*blockRows + 1, 5 * maxWidth, partBytes / 8 / maxWidth, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p panels
			kernel := &panelKernel{width: maxWidth}
			for first := 0; first < c.cols; first += maxWidth {
				p.list = append(p.list, panel{panelKernel: kernel, first: first})
			}
			if c.strip == 0 {
				c.strip = c.rows
			}
			if c.part == 0 {
				c.part = len(p.list)
			}
			var want, got [][2]int
			for strip := 0; strip < c.rows; strip += c.strip {
				for part := 0; part < len(p.list); part += c.part {
					for i := strip; i < min(strip+c.strip, c.rows); i += blockRows {
						for l := part; l < min(part+c.part, len(p.list)); l++ {
							want = append(want, [2]int{i, l * maxWidth})
						}
					}
				}
			}
			new(scratch).meet(NewMatrix(c.rows, c.dim), &p, func(part []panel, i int, rows Matrix) {
				if rows.Rows != min(blockRows, c.rows-i) {
					t.Errorf("block at row %d has %d rows", i, rows.Rows)
				}
				for _, l := range part {
					got = append(got, [2]int{i, l.first})
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("rows and columns meet in the order\n%v, want\n%v", got, want)
			}
		})
	}
}
