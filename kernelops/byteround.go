package kernelops

import (
	"math"
	"math/bits"
	"slices"
)

// byteRound is what the rows of ByteRows are compared with in a round, and the memory for it.
//
// Let x be a row and c a center, both less the origin, of which s q and t p are kept, s and t a unit. By boundBytes,
// with e at least |x - s q|, E at least |c - t p| for all centers, the squared distance is at least
//
//	|x|^2 + |c|^2 - 2 s t <q, p> - 2 e |c| - 2 (|x| + e) E
//
// so it is above U if, with e at most lambda s for all rows of a kind,
//
//	<q, p> + (2 lambda s |c| - |c|^2)/(2 s t) < (|x|^2 - 2 (|x| + e) E - U)/(2 s t)
//
// The second term on the left, rounded up, is where the product starts; the right, rounded down, is the limit of the
// row. Both are computed in float64 from numbers whose errors are below the slack that they have, 2^-30 of them, and
// have a whole unit to spare.
type byteRound struct {
	centers *Centers // of the round
	tile    *assignTile
	panels  int
	words   []uint32           // of the centers: word g of center j of panel p is words[(p*groups+g)*width+j]
	norms   []float64          // of the centers
	unit    float64            // t
	lost    float64            // E
	longest float64            // the greatest |c|
	starts  []int32            // [kinds x panels x width]
	tabled  [byteUnits]float64 // what rows of a kind lose at most, in units
	per     [byteUnits]float64 // 1/(2 s t)

	way         way
	rest, rests int // rounds to go without, and how many the next time

	limits, kinds []int32
	most          []int32
	hits          []uint64  // of each row, a bit for each center
	stride        int       // words of hits of a row
	pairs         []rowPair // of a row and a center, to be compared in float64
	open          []int32
	rows          []float32
	index         []int32
	sqDist        []float64
	looks         int
}

// way is how the centers are found that a row is compared with in float64.
type way int

const (
	byLast  way = iota // all that may be as near as the last one
	byMost             // all that may be as near as the one that looks nearest, which takes the products twice
	byFloat            // without bytes
)

const (
	byteFloor = -1 << 29 // starts and limits are not below
	byteTop   = 1 << 30  // limits are not above
	// byteFew is how many centers are compared with a row one at a time.
	byteFew = 8
	// A way has cost too much when it left more than these centers for each row, beside its own.
	byteLooseLast = 1.5
	byteLooseMost = 3
	byteRests     = 16 // rounds to go without, at most
)

// assignTile is the code for a tile of rows by panels of centers: see package asm.
type assignTile struct {
	rows, width int
	near        func(hits []uint64, hitWords, hitBytes int, limits, starts, kinds []int32, x []uint32, xStride int,
		y []uint32, groups, panels int)
	most func(most, starts, kinds []int32, x []uint32, xStride int, y []uint32, groups, panels int)
}

// Nearest is Nearest of the set for rows from number first on, of which index has the last centers, or -1. It is faster
// where these are near.
func (b *ByteRows) Nearest(index []int32, sqDist []float64, x Matrix, c *Centers, first int, ws *Workspace) {
	x.check()
	switch {
	case len(index) != x.Rows || len(sqDist) != x.Rows:
		panic("kernelops: result has the wrong shape")
	case x.Cols != b.cols || x.Cols != c.cols:
		panic("kernelops: points have different dimensions")
	}
	n := &b.near
	if n.centers != c {
		b.move(c)
	}
	b.add(x, first)
	for at := 0; at < x.Rows; {
		p, from, rows := b.part(first+at, x.Rows-at)
		b.nearest(index[at:at+rows], sqDist[at:at+rows], x.RowRange(at, at+rows), p, from, ws)
		at += rows
	}
}

// nearest is Nearest for rows of a part.
func (b *ByteRows) nearest(index []int32, sqDist []float64, x Matrix, p *rowPart, first int, ws *Workspace) {
	n := &b.near
	if n.way == byFloat || len(b.kinds) == 0 {
		b.set.Nearest(index, sqDist, x, n.centers, ws)
		return
	}
	b.retable()
	way := n.way
	for _, j := range index {
		if j < 0 || int(j) >= n.centers.rows {
			way = byMost
		}
	}
	words, rows := p.words[first*b.groups:], p.rows[first:first+x.Rows]
	n.begin(rows)
	if way == byLast {
		b.set.GroupDistances(sqDist, x, n.centers.values, index)
		n.limitByLast(sqDist, rows)
		b.hit(words, x.Rows)
	} else {
		b.limitByMost(words, rows)
		b.hit(words, x.Rows)
		n.firstHits(index)
		b.set.GroupDistances(sqDist, x, n.centers.values, index)
	}
	b.decide(index, sqDist, x)
	b.finish(index, sqDist, x, ws)
	n.learn(way, x.Rows)
}

// begin makes memory for rows.
func (n *byteRound) begin(rows []byteRow) {
	size := len(rows) + byteAhead
	n.limits, n.kinds, n.hits = Resize(n.limits, size), Resize(n.kinds, size), Resize(n.hits, size*n.stride)
	n.open, n.pairs = n.open[:0], n.pairs[:0]
	for i := range n.kinds {
		n.limits[i], n.kinds[i] = math.MaxInt32, 0
		if i < len(rows) {
			n.kinds[i] = rows[i].kind * int32(n.panels*n.tile.width)
		}
	}
}

// move packs the centers of a round.
func (b *ByteRows) move(c *Centers) {
	n := &b.near
	n.centers, n.way = c, byFloat
	if n.rest > 0 {
		n.rest--
		return
	}
	if c.matrix == nil || c.rows < 2 {
		return
	}
	n.tile = b.bytes.assign.forCenters(c.rows)
	width := n.tile.width
	n.panels = (c.rows + width - 1) / width
	n.stride = (n.panels*width + 63) / 64
	most := 0.0
	for i, v := range c.values {
		most = max(most, math.Abs(v-b.center.values[i%c.cols]))
	}
	var ok bool
	if n.unit, ok = unitOf(most); !ok {
		return
	}
	n.words = Resize(n.words, n.panels*b.groups*width)
	clear(n.words)
	n.norms, n.lost, n.longest = Resize(n.norms, c.rows), 0, 0
	t := make([]float64, c.cols)
	for j := range c.rows {
		at := n.words[j/width*b.groups*width+j%width:]
		norm, lost := b.packCenter(at, width, c.values[j*c.cols:(j+1)*c.cols], n.unit, t)
		n.norms[j], n.lost = norm, max(n.lost, lost)
		n.longest = max(n.longest, float64(math.Sqrt(norm)*byteBoundRound))
	}
	n.tabled = [byteUnits]float64{}
	n.way = byLast
}

// packCenter rounds a center to the words of a panel, stride words apart, and returns its norm less the origin, and at
// least what is lost. t is memory for it.
func (b *ByteRows) packCenter(words []uint32, stride int, center []float64, unit float64, t []float64,
) (norm, lost float64) {
	for k, v := range center {
		t[k] = v - b.center.values[k]
	}
	lost = quantize(words, stride, t, unit)
	for k := range t { // from signed to the offset
		words[k/4*stride] ^= byteLift << (k % 4 * 8)
	}
	norm, _ = extent(t)
	return norm, lost
}

// retable makes the starts of kinds that are new, or that lose more than before.
func (b *ByteRows) retable() {
	n := &b.near
	size := n.panels * n.tile.width
	if need := len(b.kinds) * size; need > len(n.starts) { // those of other kinds stay
		n.starts = slices.Grow(n.starts, need-len(n.starts))[:need]
	}
	for i, kind := range b.kinds {
		if n.tabled[i] > 0 && kind.lost <= n.tabled[i] {
			continue
		}
		n.tabled[i] = float64(kind.lost*byteBoundRound) + 0x1p-30
		n.per[i] = 1 / (2 * float64(kind.unit*n.unit))
		starts := n.starts[i*size : (i+1)*size]
		for j := range starts {
			starts[j] = byteFloor
			if j < len(n.norms) {
				norm := n.norms[j]
				loss := float64(float64(n.tabled[i]*kind.unit) * math.Sqrt(norm))
				gap := float64(2*byteBoundRound*loss) - float64(norm*(1-0x1p-30))
				start := math.Ceil(float64(gap*n.per[i])) + 1
				starts[j] = int32(min(max(start, byteFloor), -byteFloor)) //lint:checked within 30 bits
			}
		}
	}
}

// limitByLast sets the limits of rows from their distances to their last centers.
func (n *byteRound) limitByLast(sqDist []float64, rows []byteRow) {
	for i, d := range sqDist {
		r := &rows[i]
		gap := float64(r.norm) - float64(d*byteBoundRound) + float64(float64(r.otherLoss)*n.lost)
		limit := float64(gap * n.per[r.kind])
		if !(limit > byteFloor) {
			n.limits[i] = math.MinInt32
			continue
		}
		// to 0, which is up below it; and the offset of the bytes of centers adds to the products
		n.limits[i] = int32(min(limit, byteTop)) - 2 - r.start //lint:checked within 31 bits
	}
}

// limitByMost sets the limits of rows to what is as near as the center with the greatest sum may be.
func (b *ByteRows) limitByMost(words []uint32, rows []byteRow) {
	n, t := &b.near, b.near.tile
	n.most = Resize(n.most, 16*(len(rows)+byteAhead))
	for i := range n.most {
		n.most[i] = math.MinInt32
	}
	b.calls(len(rows), func(i, panel, panels int) {
		t.most(n.most[16*i:], n.starts[panel*t.width:], n.kinds[i:], words[i*b.groups:], b.groups,
			n.words[panel*b.groups*t.width:], b.groups, panels)
	})
	for i := range rows {
		r := &rows[i]
		most := n.most[16*i]
		for _, v := range n.most[16*i+1 : 16*i+16] {
			most = max(most, v)
		}
		// the center with that sum is at most this nearer by its start, and by both parts of the row
		slack := float64(2*n.tabled[r.kind]*n.longest)/n.unit -
			float64(2*float64(float64(float64(r.otherLoss)*n.lost)*n.per[r.kind]))
		n.limits[i] = math.MinInt32
		if r.norm != r.norm || most+r.start < byteFloor/2 { // the start of that center may be above its bound
			continue
		}
		if limit := float64(most) - float64(slack*byteBoundRound) - 4; limit > 2*byteFloor {
			n.limits[i] = int32(math.Floor(limit)) //lint:checked below most
		}
	}
}

// hit compares the rows with all centers.
func (b *ByteRows) hit(words []uint32, rows int) {
	n, t := &b.near, b.near.tile
	b.calls(rows, func(i, panel, panels int) {
		t.near(n.hits[i*n.stride:], n.stride, panel*t.width/8, n.limits[i:], n.starts[panel*t.width:], n.kinds[i:],
			words[i*b.groups:], b.groups, n.words[panel*b.groups*t.width:], b.groups, panels)
	})
	last := uint64(math.MaxUint64)
	if rest := len(n.norms) % 64; rest > 0 {
		last = 1<<rest - 1
	}
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

// decide compares the hits of rows with their centers, of which sqDist has the distances. Rows with many, or without a
// bound, are left open.
func (b *ByteRows) decide(index []int32, sqDist []float64, x Matrix) {
	n := &b.near
	stride := n.stride
	for i, own := range index {
		hits, some := n.hits[i*stride:(i+1)*stride], uint64(0)
		hits[own>>6] &^= 1 << (own & 63)
		for _, word := range hits {
			some |= word
		}
		if some == 0 {
			continue
		}
		found := 0
		for _, word := range hits {
			found += bits.OnesCount64(word)
		}
		if found > byteFew || !(sqDist[i] < math.Inf(1)) {
			n.open = append(n.open, int32(i))
			continue
		}
		for w, word := range hits {
			for ; word != 0; word &= word - 1 {
				n.pairs = append(n.pairs, rowPair{int32(i), int32(64*w + bits.TrailingZeros64(word))})
			}
		}
	}
	n.looks = len(n.pairs)
	b.settle(index, sqDist, x)
}

// rowPair is a row and a center.
type rowPair struct{ row, center int32 }

// settle compares the rows of pairs with their centers.
func (b *ByteRows) settle(index []int32, sqDist []float64, x Matrix) {
	n := &b.near
	var dists [pairRows]float64
	var rows [pairRows]*float32
	var centers [pairRows]*float64
	for pairs := n.pairs; len(pairs) > 0; pairs = pairs[min(pairRows, len(pairs)):] {
		for i := range rows {
			p := pairs[min(i, len(pairs)-1)]
			rows[i], centers[i] = &x.Data[int(p.row)*x.Stride], &n.centers.values[int(p.center)*b.cols]
		}
		b.bytes.pairs(&dists, &rows, &centers, b.cols)
		for i, p := range pairs[:min(pairRows, len(pairs))] {
			if d := dists[i]; d < sqDist[p.row] || d == sqDist[p.row] && p.center < index[p.row] {
				index[p.row], sqDist[p.row] = p.center, d
			}
		}
	}
}

// finish finds the centers of the open rows by those in float32.
func (b *ByteRows) finish(index []int32, sqDist []float64, x Matrix, ws *Workspace) {
	n := &b.near
	if len(n.open) == 0 {
		return
	}
	n.rows = Resize(n.rows, len(n.open)*b.cols)
	open := gather(n.rows, n.open, x)
	n.index, n.sqDist = Resize(n.index, open.Rows), Resize(n.sqDist, open.Rows)
	b.set.Nearest(n.index, n.sqDist, open, n.centers, ws)
	for i, r := range n.open {
		index[r], sqDist[r] = n.index[i], n.sqDist[i]
	}
}

// learn chooses the way of the next rows.
func (n *byteRound) learn(way way, rows int) {
	left := float64(n.looks+byteFew*len(n.open)) / float64(rows)
	switch {
	case way == byLast && left > byteLooseLast:
		n.way = byMost
	case way == byMost && left > byteLooseMost:
		n.way, n.rests = byFloat, min(2*n.rests+1, byteRests)
		n.rest = n.rests - 1
	}
}
