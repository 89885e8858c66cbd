package kernelops

import (
	"math"
	"math/bits"
	"slices"
)

// limitByLast sets the limits of rows from their distances to their last centers, and where their starts are.
func (b *ByteRows) limitByLast(sqDist []float64, rows rowNumbers) {
	n := &b.near
	b.bytes.blocks.limits(n.limits, n.offsets, sqDist, rows, &n.per, n.panels*n.tile.width,
		&[4]float64{byteBoundRound, n.lost, byteFloor, byteTop})
}

// hitByMost compares the rows with all centers: those are hit that may be as near as the one with the greatest sum.
// Sums are kept for a few rows at a time, and compared when the greatest is known.
func (b *ByteRows) hitByMost(words []uint32, rows rowNumbers, count int) {
	n, t := &b.near, b.near.tile
	size := n.panels * t.width
	n.most, n.sums = Resize(n.most, 16*byteAhead), Resize(n.sums, byteAhead*size)
	for i := range count {
		n.offsets[i] = rows.kinds[i] * int32(size)
	}
	for from := 0; from < count; from += byteAhead {
		some := min(byteAhead, count-from)
		for i := range n.most {
			n.most[i] = math.MinInt32
		}
		b.calls(some, func(i, panel, panels int) {
			t.most(n.most[16*i:], n.sums[i*size+panel*t.width:], size, n.starts[panel*t.width:], n.offsets[from+i:],
				words[(from+i)*b.groups:], b.groups, n.words[panel*b.groups*t.width:], b.groups, panels)
		})
		b.limitByMost(from, some, rows)
		b.bytes.blocks.reached(n.hits[from*n.stride:], n.stride, n.limits[from:], n.sums, size, some)
	}
	b.trim(count)
}

// limitByMost sets the limits of rows to what is as near as the center with the greatest sum may be.
func (b *ByteRows) limitByMost(from, count int, rows rowNumbers) {
	n := &b.near
	for i := range count {
		most := slices.Max(n.most[16*i : 16*(i+1)])
		row, kind := from+i, rows.kinds[from+i]
		// the center with that sum is at most this nearer by its start, and by both parts of the row
		slack := n.slack[kind] - float64(2*float64(float64(float64(rows.losses[row])*n.lost)*n.per[kind]))
		// and float64 distances err by 2^-39 of both norms, which are not in the sums
		both := float64(rows.norms[row]) + float64(n.longest*n.longest)
		slack += float64(0x1p-30 * float64(both*n.per[kind]))
		n.limits[row] = math.MinInt32
		if norm := rows.norms[row]; norm != norm || most+rows.starts[row] < byteFloor/2 {
			continue // the start of that center may be above its bound
		}
		if limit := float64(most) - float64(slack*byteBoundRound) - 4; limit > 2*byteFloor {
			n.limits[row] = int32(math.Floor(limit)) //lint:checked below most
		}
	}
}

// hit compares the rows with all centers.
func (b *ByteRows) hit(words []uint32, rows int) {
	n, t := &b.near, b.near.tile
	b.calls(rows, func(i, panel, panels int) {
		t.near(n.hits[i*n.stride:], n.stride, panel*t.width/8, n.limits[i:], n.starts[panel*t.width:], n.offsets[i:],
			words[i*b.groups:], b.groups, n.words[panel*b.groups*t.width:], b.groups, panels)
	})
	b.trim(rows)
}

// trim drops the hits of centers that there are not.
func (b *ByteRows) trim(rows int) {
	n := &b.near
	rest := len(n.norms) % 64
	if rest == 0 {
		return
	}
	last := uint64(1)<<rest - 1
	for at := n.stride - 1; at < rows*n.stride; at += n.stride {
		n.hits[at] &= last
	}
}

// calls goes over tiles of rows and as many panels as a call may take.
func (b *ByteRows) calls(rows int, call func(i, panel, panels int)) {
	n := &b.near
	most := max(1, byteCall/b.groups)
	for i := 0; i < rows; i += n.tile.rows {
		for p := 0; p < n.panels; p += most {
			call(i, p, min(most, n.panels-p))
		}
	}
}

// firstHits sets index to the first hit of each row.
func (n *byteRound) firstHits(index []int32) {
	for i := range index {
		index[i] = 0
		for w, word := range n.hits[i*n.stride : (i+1)*n.stride] {
			if word != 0 {
				index[i] = int32(64*w + bits.TrailingZeros64(word))
				break
			}
		}
	}
}
