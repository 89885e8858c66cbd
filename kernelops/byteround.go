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
	slack   [byteUnits]float64 // what the start of the nearest center may be lower by than that of another

	way         way
	rest, rests int // rounds to go without, and how many the next time

	limits     []int32
	offsets    []int32   // of each row, where the starts of its kind are
	most, sums []int32   // the greatest sums, and those of some rows with all centers
	hits       []uint64  // of each row, a bit for each center
	stride     int       // words of hits of a row
	pairs      []rowPair // of a row and a center, to be compared in float64
	some       []int32   // rows with hits
	open       []int32
	rows       []float32
	index      []int32
	sqDist     []float64
	looks      int
}

// way is how the centers are found that a row is compared with in float64.
type way int

const (
	byLast  way = iota // all that may be as near as the last one
	byMost             // all that may be as near as the one that looks nearest
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
	most func(most, sums []int32, sumStride int, starts, kinds []int32, x []uint32, xStride int, y []uint32,
		groups, panels int)
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
	words, rows := p.words[first*b.groups:], p.numbers.from(first)
	n.begin(x.Rows)
	if way == byLast {
		b.set.GroupDistances(sqDist, x, n.centers.values, index)
		b.limitByLast(sqDist, rows)
		b.hit(words, x.Rows)
	} else {
		b.hitByMost(words, rows, x.Rows)
		n.firstHits(index)
		b.set.GroupDistances(sqDist, x, n.centers.values, index)
	}
	b.decide(index, sqDist, x)
	b.finish(index, sqDist, x, ws)
	n.learn(way, x.Rows)
}

// begin makes memory for rows. Those of a tile that are beyond them have no hits.
func (n *byteRound) begin(rows int) {
	size := rows + byteAhead
	n.limits, n.offsets, n.hits = Resize(n.limits, size), Resize(n.offsets, size), Resize(n.hits, size*n.stride)
	n.open, n.pairs = n.open[:0], n.pairs[:0]
	for i := rows; i < size; i++ {
		n.limits[i], n.offsets[i] = math.MaxInt32, 0
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
		n.slack[i] = float64(2*n.tabled[i]*n.longest) / n.unit
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

// decide compares the hits of rows with their centers, of which sqDist has the distances. Rows with many, or without a
// bound, are left open.
func (b *ByteRows) decide(index []int32, sqDist []float64, x Matrix) {
	n := &b.near
	stride := n.stride
	for _, i := range n.hitRows(index) {
		hits, found := n.hits[int(i)*stride:(int(i)+1)*stride], 0
		for _, word := range hits {
			found += bits.OnesCount64(word)
		}
		if found > byteFew || !(sqDist[i] < math.Inf(1)) {
			n.open = append(n.open, i)
			continue
		}
		for w, word := range hits {
			for ; word != 0; word &= word - 1 {
				n.pairs = append(n.pairs, rowPair{i, int32(64*w + bits.TrailingZeros64(word))})
			}
		}
	}
	n.looks = len(n.pairs)
	b.settle(index, sqDist, x)
}

// hitRows lists the rows with hits but for their own centers, which it drops. No branch depends on a row.
func (n *byteRound) hitRows(index []int32) []int32 {
	n.some = Resize(n.some, len(index)+1)
	count := 0
	if n.stride == 4 {
		for i, own := range index {
			hits := (*[4]uint64)(n.hits[4*i:])
			hits[own>>6&3] &^= 1 << (own & 63)
			some := hits[0] | hits[1] | hits[2] | hits[3]
			n.some[count] = int32(i)
			count += int((some | -some) >> 63)
		}
		return n.some[:count]
	}
	for i, own := range index {
		hits, some := n.hits[i*n.stride:(i+1)*n.stride], uint64(0)
		hits[own>>6] &^= 1 << (own & 63)
		for _, word := range hits {
			some |= word
		}
		n.some[count] = int32(i)
		count += int((some | -some) >> 63)
	}
	return n.some[:count]
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
