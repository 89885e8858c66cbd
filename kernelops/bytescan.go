package kernelops

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// byteQueries are queries as rows of 8 bits, in tiles of n.
type byteQueries struct {
	base    *byteBase
	n       int
	known   []roundedRow // by number
	order   []int        // the number of each place in the tiles: those alike are together, as they share bounds
	words   []uint32     // word g of place i of tile t is words[(t*groups+g)*n+i]
	factors []float32
	limits  []float32
	starts  []int32
	spreads []float32 // two of each tile
	hits    []uint64
	dots    []int32
	found   []int  // hits of each place
	out     []bool // places whose hits are not asked for any more
	live    []int  // the places of each tile whose hits are
	lanes   byteLanes
	line    []uint8
	buf     []float32
}

const (
	// bytePart is how much of a base meets all queries before the next part does: it stays in the second cache level.
	bytePart = 512 << 10
	// byteCall bounds the groups of columns that a call takes: about 0.05 ms.
	byteCall = 2048
	// byteCallPanels bounds its panels, whose results stay in the first cache level.
	byteCallPanels = 8
	// byteSpare is added to each product: it is more than what underflows in its bound.
	byteSpare = 1
	// noHits is where the products of a place without a query start: far below those of all others.
	noHits = math.MinInt32 / 2
)

// take rounds the rows of x, for tiles of n. It returns those that cannot be rounded: they get no hits.
func (q *byteQueries) take(s *byteSet, n int, x Matrix, b *byteBase) (left []int) {
	q.base, q.n, q.order = b, n, q.order[:0]
	q.known = Resize(q.known, x.Rows)
	for i := range x.Rows {
		q.known[i] = b.measure(s, b.direction(&q.buf, x.Row(i)), &q.lanes)
		if b.usable(&q.known[i]) {
			q.order = append(q.order, i)
		} else {
			left = append(left, i)
		}
	}
	// total order: ends in the number
	slices.SortFunc(q.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(q.known[i].relative(), q.known[j].relative()), i-j)
	})
	tiles := (len(q.order) + n - 1) / n
	q.words, q.starts = Resize(q.words, tiles*b.groups*n), Resize(q.starts, tiles*n)
	q.factors, q.limits, q.spreads = Resize(q.factors, tiles*n), Resize(q.limits, tiles*n), Resize(q.spreads, 2*tiles)
	q.hits, q.dots = Resize(q.hits, n*byteCallPanels), Resize(q.dots, n*byteCallPanels*byteWidth)
	q.found, q.out, q.live = Resize(q.found, tiles*n), Resize(q.out, tiles*n), Resize(q.live, tiles)
	clear(q.live)
	clear(q.found)
	clear(q.out)
	clear(q.spreads)
	q.line = Resize(q.line, byteGroup*b.groups)
	clear(q.line)
	for place := range tiles * n {
		if place >= len(q.order) { // fills up the last tile
			q.factors[place], q.limits[place], q.starts[place] = 1, -math.MaxFloat32, noHits
			continue
		}
		i := q.order[place]
		b.round(s, &q.known[i], q.line[:x.Cols], b.direction(&q.buf, x.Row(i)), 0, &q.lanes)
		q.pack(place)
	}
	return left
}

// relative is the length of a row over its unit.
func (r *roundedRow) relative() float64 { return r.length / r.unit }

// pack packs the line as that of a place, and sets its terms.
func (q *byteQueries) pack(place int) {
	b, r, t := q.base, &q.known[q.order[place]], place/q.n
	q.live[t]++
	for g := range b.groups {
		q.words[(t*b.groups+g)*q.n+place%q.n] = binary.LittleEndian.Uint32(q.line[byteGroup*g:])
	}
	sum := int32(0)
	for _, v := range q.line {
		sum += int32(int8(v))
	}
	q.starts[place] = byteSpare - byteLift*sum
	q.factors[place] = float32(b.scale / r.unit)
	spreads := q.spreads[2*t:][:2]
	spreads[0] = min(spreads[0], -float32(float64(r.lost/r.unit)*(1+byteScan)))
	spreads[1] = min(spreads[1], -float32(float64((r.length+r.lost)/r.unit)*(1+byteScan)))
	q.limit(place, math.Inf(1))
}

// limit sets the distance beyond which rows are of no interest.
func (q *byteQueries) limit(place int, most float64) {
	r := &q.known[q.order[place]]
	most = q.base.apart(most)
	gap := math.Floor(most) - r.norm - 2*byteSpare
	if !(q.base.exact && r.exact && math.Abs(gap) <= byteExactNorm) {
		gap = most + float64(byteScan*math.Abs(most)) - (r.norm - float64(byteScan*math.Abs(r.norm))) + r.slop
		if q.base.exact { // norms of the base are not lowered
			gap += byteScan * byteExactNorm
		}
	}
	q.limits[place] = max(-math.MaxFloat32, float32(gap/float64(2*float64(r.unit*q.base.scale))))
}

// hitter takes the row of a base that a query may be near, and the bounds of its distance. It returns the distance
// beyond which rows are of no interest from now on.
type hitter func(i, row int, low, high float64) (limit float64)

// scan compares panels of the base with all queries.
func (q *byteQueries) scan(tile byteTile, from, to int, hit hitter) {
	most := max(1, min(byteCallPanels, byteCall/q.base.groups))
	for t, live := range q.live {
		for p := from; p < to && live > 0; p += most {
			q.call(tile, t, p, min(most, to-p), hit)
		}
	}
}

// call compares a tile of queries with n panels from panel p on.
func (q *byteQueries) call(tile byteTile, t, p, n int, hit hitter) {
	b, first := q.base, t*q.n
	panels := tile(q.hits, q.dots, q.words[t*b.groups*q.n:], b.words[p*b.groups*byteWidth:], b.terms[p*byteTerms:],
		q.factors[first:], q.limits[first:], q.starts[first:], q.spreads[2*t:], b.groups, n)
	for ; panels != 0; panels &= panels - 1 {
		at := bits.TrailingZeros64(panels)
		valid := b.valid(p + at)
		for i := range min(q.n, len(q.order)-first) {
			if word := q.hits[at*q.n+i] & valid; word != 0 && !q.out[first+i] {
				q.found[first+i] += bits.OnesCount64(word)
				q.report(first+i, p+at, word, q.dots[(at*q.n+i)*byteWidth:][:byteWidth], hit)
			}
		}
	}
}

// report calls hit for the bits of found, a row of a panel each.
func (q *byteQueries) report(place, panel int, found uint64, dots []int32, hit hitter) {
	i, terms, limit := q.order[place], q.base.terms[panel*byteTerms:][:byteTerms], 0.0
	for ; found != 0; found &= found - 1 {
		j := bits.TrailingZeros64(found)
		low, high := q.base.keys(q.bounds(i, terms, j, dots[j]-byteSpare))
		limit = hit(i, panel*byteWidth+j, low, high)
	}
	q.limit(place, limit)
}

// bounds are those of query i and row j of a panel; equal where the distance is known.
func (q *byteQueries) bounds(i int, terms []float32, j int, dot int32) (low, high float64) {
	r := &q.known[i]
	if !q.base.exact || !r.exact {
		return r.bounds(terms, j, q.base.scale, dot)
	}
	norm := float64(float64(terms[j]) * float64(2*q.base.scale)) // units are 1
	about := r.norm + norm - float64(2*float64(dot)) + 0         // not -0
	return about, about
}

// relimit sets the limits of all queries.
func (q *byteQueries) relimit(limit func(i int) float64) {
	for place, i := range q.order {
		if !q.out[place] {
			q.limit(place, limit(i))
		}
	}
}
