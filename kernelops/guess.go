package kernelops

import (
	"math"
	"slices"
)

// A search without limits looks at many rows of the base before limits are close to the last ones. So some queries, the
// pilots, are searched first, and the others within guesses: the k-th distances of the pilots, as a line over how far
// queries are from the center, and somewhat more. A query with k rows within its guess has its first k. The others are
// searched again, without a guess: so none can be wrong, and a poor one costs time.
const (
	pilotShare   = 16   // of as many queries one is a pilot
	leastPilots  = 32   // with fewer, or
	leastGuessed = 2048 // fewer rows of the base, nothing is guessed
	guessSpread  = 2    // standard deviations that a guess is above the line: about one query in 40 is searched again

	// guessedFloats is how many numbers of queries are copied at a time, guessedCols the most columns for which these
	// are enough queries.
	guessedFloats = 1 << 20
	guessedCols   = guessedFloats / (leastPilots * pilotShare)
)

// guesses is memory for a search by guesses.
type guesses struct {
	at, far        []float64 // of the pilots, how far they are from the center, and their k-th distance
	pilots, others []int
	rows           []float32
	most           []float64
	ids            []int
	dists          []float64
}

// mayGuess reports whether a search through bytes goes by guesses: where nothing is known of any query.
func (b *Base) mayGuess(x Matrix, most []float64) bool {
	return x.Rows >= leastPilots*pilotShare && x.Cols <= guessedCols && b.rows.Rows >= leastGuessed &&
		!slices.ContainsFunc(most, func(limit float64) bool { return !math.IsInf(limit, 1) })
}

// searchGuessed is search without limits, through bytes.
func (b *Base) searchGuessed(ids []int, dists []float64, k int, x Matrix, ws *Workspace) {
	part := max(leastPilots*pilotShare, guessedFloats/x.Cols)
	for i := 0; i < x.Rows; i += part {
		end := min(x.Rows, i+part)
		b.guessed(ids[i*k:end*k], dists[i*k:end*k], k, x.RowRange(i, end), ws)
	}
}

// guessed is searchGuessed for some queries.
func (b *Base) guessed(ids []int, dists []float64, k int, x Matrix, ws *Workspace) {
	g := &b.guesses
	g.deal(x.Rows)
	b.searchSome(ids, dists, k, x, g.pilots, nil, ws)
	line, ok := b.line(dists, k, x)
	if !ok {
		b.searchSome(ids, dists, k, x, g.others, nil, ws)
		return
	}
	g.most = g.most[:0]
	for _, i := range g.others {
		g.most = append(g.most, line.guess(b.bytes.fromCenter(x.Row(i))))
	}
	b.searchSome(ids, dists, k, x, g.others, g.most, ws)
	again := g.others[:0]
	for _, i := range g.others {
		if ids[(i+1)*k-1] < 0 {
			again = append(again, i)
		}
	}
	b.searchSome(ids, dists, k, x, again, nil, ws)
}

// deal chooses the pilots among n queries, one in each group as if at random.
func (g *guesses) deal(n int) {
	g.pilots, g.others = g.pilots[:0], g.others[:0]
	for i := range n {
		group := uint32(i / pilotShare)
		if i%pilotShare == int(group*0x9e3779b1>>28) {
			g.pilots = append(g.pilots, i)
		} else {
			g.others = append(g.others, i)
		}
	}
}

// searchSome searches some rows of x.
func (b *Base) searchSome(ids []int, dists []float64, k int, x Matrix, some []int, most []float64, ws *Workspace) {
	g := &b.guesses
	g.rows = Resize(g.rows, len(some)*x.Cols)
	g.ids, g.dists = Resize(g.ids, len(some)*k), Resize(g.dists, len(some)*k)
	m := Matrix{Data: g.rows, Rows: len(some), Cols: x.Cols, Stride: x.Cols}
	for n, i := range some {
		copy(m.Row(n), x.Row(i))
	}
	b.search(g.ids, g.dists, k, m, most, true, ws)
	for n, i := range some {
		copy(ids[i*k:(i+1)*k], g.ids[n*k:])
		copy(dists[i*k:(i+1)*k], g.dists[n*k:])
	}
}

// fromCenter is about the squared distance of a row from the center.
func (c *byteCenter) fromCenter(x []float32) float64 {
	sum := 0.0
	for j, v := range x {
		t := float64(v) - c.values[j]
		sum += float64(t * t)
	}
	return sum
}

// guessLine is a line of least squares, raised.
type guessLine struct{ base, slope float64 }

func (l guessLine) guess(at float64) float64 {
	if guess := l.base + float64(l.slope*at); guess > 0 { // else it is no distance, or NaN
		return guess
	}
	return math.Inf(1)
}

// line fits the k-th distances of the pilots; false where too many have none. No result depends on it.
func (b *Base) line(dists []float64, k int, x Matrix) (l guessLine, ok bool) {
	g := &b.guesses
	g.at, g.far = g.at[:0], g.far[:0]
	for _, i := range g.pilots {
		if far := dists[(i+1)*k-1]; far < math.Inf(1) {
			g.at, g.far = append(g.at, b.bytes.fromCenter(x.Row(i))), append(g.far, far)
		}
	}
	n := float64(len(g.at))
	if len(g.at) < leastPilots/2 {
		return l, false
	}
	atMean, farMean := mean(g.at), mean(g.far)
	squares, products := 0.0, 0.0
	for i, at := range g.at {
		squares += float64((at - atMean) * (at - atMean))
		products += float64((at - atMean) * (g.far[i] - farMean))
	}
	if slope := products / squares; slope-slope == 0 {
		l.slope = slope
	}
	l.base = farMean - float64(l.slope*atMean)
	rest := 0.0
	for i, at := range g.at {
		off := g.far[i] - (l.base + float64(l.slope*at))
		rest += float64(off * off)
	}
	l.base += float64(guessSpread * math.Sqrt(rest/n))
	return l, true
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
