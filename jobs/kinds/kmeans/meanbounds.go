package kmeans

import (
	"math"

	"github.com/gram-compute/gram/kernelops"
)

// meanBounds tell at least how far a record is, on the mean, from the records of a cluster, without a look at these.
// Let m be the mean of the cluster's n records y, D the distance of record x to m, and V the mean of |y - m|^2. The
// mean of |x-y|^2 is D^2 + V, that of |x-y| is at least D (the triangle inequality), and at least
//
//	sqrt(a) (1 - var / (2 a^2)), a = D^2 + V,
//
// var being the variance of |x-y|^2, as sqrt(1 + z) >= 1 + z/2 - z^2/2. The deviation of |x-y|^2 is at most that of
// |y - m|^2 plus 2 D times the root of the greatest eigenvalue of the covariance, for which its Frobenius norm stands.
// See docs/numerics.md for what is rounded.
type meanBounds struct {
	g     *clustered
	means []float64 // rows, a cluster each
	about []moments
	sq    []float64   // of each row, |y - m|^2
	first int         // row of a tile of meanTile rows
	to    []float64   // squared distances to each mean from the rows of the tile
	least []float64   // bounds of a row
	near  *pairBounds // in place of all this; nil where they are not asked
}

// moments is how the records of a cluster lie about their mean.
type moments struct {
	variance  float64 // mean of |y - m|^2
	deviation float64 // of |y - m|^2, or more
	length    float64 // of the longest half axis, or more
	lost      float64 // by rounding the mean
	products  float64 // sum of <y - m, z - m>^2 over pairs
	most      float64 // of |y - m|^2
}

// Rounding: see docs/numerics.md.
const (
	meanSlack   = 0x1p-20
	momentSlack = 0x1p-30
)

// meanTile is how many rows are compared with all means at once.
const meanTile = 64

// newMeanBounds returns bounds that know the means.
func newMeanBounds(g *clustered) *meanBounds {
	width, k := g.x.Cols, len(g.clusters)
	b := &meanBounds{g: g, means: make([]float64, k*width), about: make([]moments, k), sq: make([]float64, g.x.Rows),
		first: -meanTile, to: make([]float64, k*meanTile), least: make([]float64, k)}
	for j, c := range g.clusters {
		mean, length := b.means[j*width:(j+1)*width], 0.0
		for at := c.from; at < c.to; at++ {
			sum := 0.0
			for e, v := range g.x.Row(at) {
				mean[e] += float64(v)
				sum += float64(float64(v) * float64(v))
			}
			length = max(length, sum)
		}
		for e := range mean {
			mean[e] /= float64(c.len())
		}
		s := &b.about[j]
		s.lost = float64(float64(math.Sqrt(length)*float64(c.len())) * 0x1p-52)
		b.measure(s, c, mean)
	}
	return b
}

// measure finds the moments of a cluster but for those of its pairs.
func (b *meanBounds) measure(s *moments, c span, mean []float64) {
	sq := b.sq[c.from:c.to]
	b.g.ops.GroupDistances(sq, b.g.x.RowRange(c.from, c.to), mean, b.g.groups[:c.len()])
	for _, v := range sq {
		s.variance += v
		s.most = max(s.most, v)
	}
	s.variance /= float64(c.len())
	sum := 0.0
	for _, v := range sq {
		sum += float64((v - s.variance) * (v - s.variance))
		s.products += float64(v * v)
	}
	s.deviation = math.Sqrt(sum/float64(c.len())) + float64(momentSlack*s.most)
}

// pairs takes in the squared distances of a row to those behind it in its cluster.
func (b *meanBounds) pairs(cluster, at int, sqDists []float64) {
	if b.g.cosine {
		return
	}
	sum, first := 0.0, b.sq[at]
	for i, d := range sqDists {
		double := first + b.sq[at+1+i] - d
		sum += float64(double * double)
	}
	b.about[cluster].products += sum / 2
}

// end completes the moments of a cluster of which all pairs were seen.
func (b *meanBounds) end(cluster int) {
	s, n := &b.about[cluster], float64(b.g.clusters[cluster].len())
	s.length = math.Sqrt(math.Sqrt(s.products)/n + float64(momentSlack*s.most))
}

// of returns at least the mean distance of a row to each cluster, until the next call.
func (b *meanBounds) of(at int) []float64 {
	g := b.g
	if b.near != nil {
		return b.near.of(at)
	}
	if at < b.first || at >= b.first+meanTile {
		b.first = at
		end := min(at+meanTile, g.x.Rows)
		for j := range b.about {
			g.ops.GroupDistances(b.to[j*meanTile:][:end-at], g.x.RowRange(at, end),
				b.means[j*g.x.Cols:(j+1)*g.x.Cols], g.groups[:end-at])
		}
	}
	for j := range b.about {
		b.least[j] = b.about[j].least(b.to[j*meanTile+at-b.first], g.cosine)
	}
	return b.least
}

// least is at least the mean distance of a record at a squared distance from the mean.
func (s *moments) least(sqDist float64, cosine bool) float64 {
	a := sqDist + s.variance
	d, root := math.Sqrt(sqDist), math.Sqrt(a)
	if cosine {
		return a/2 - float64(meanSlack*a) - float64(2*(d*s.lost))
	}
	deviation := s.deviation + float64(2*(d*s.length))
	share := float64(deviation*deviation) / float64(2*a*a)
	if !(share < 1) {
		share = 1
	}
	least := max(d, float64(root*(1-share))) - float64(meanSlack*root) - float64(2*s.lost)
	return least
}

// pairBounds tell more than meanBounds, and take longer: of each pair of rows at least the distance, by float32
// products of rows less an origin, and the error proved for them (docs/numerics.md, kernels of differences).
type pairBounds struct {
	g       *clustered
	rows    kernelops.Matrix // less the origin
	shares  []float64        // of each row in the error of a squared distance
	first   int              // row of the tile
	sqDists kernelops.Matrix // of the tile to all rows
	least   []float64
	ws      kernelops.Workspace
}

// Pair bounds are made for tiles of rows of at least that many columns: in fewer, distances take as long.
const (
	pairTile    = 256
	leastOfPair = 48
)

func newPairBounds(g *clustered) *pairBounds {
	n, width := g.x.Rows, g.x.Cols
	b := &pairBounds{g: g, rows: kernelops.NewMatrix(n, width), shares: make([]float64, n), first: -pairTile,
		sqDists: kernelops.NewMatrix(pairTile, n), least: make([]float64, len(g.clusters))}
	mean := make([]float64, width)
	for i := range n {
		for j, v := range g.x.Row(i) {
			mean[j] += float64(v) / float64(n)
		}
	}
	for i := range n {
		row := b.rows.Row(i)
		for j, v := range g.x.Row(i) {
			row[j] = v - float32(mean[j])
		}
		b.shares[i] = pairShare(float64(g.ops.Dot(row, row)), width)
	}
	return b
}

// pairShare is what a row of that squared norm has in the error of a squared distance; infinite where none is proved.
func pairShare(norm float64, width int) float64 {
	const u = 0x1p-24
	d := float64(width)
	if !(norm < 0x1p124) || width > 1<<20 {
		return math.Inf(1)
	}
	g := float64(d*u) / (1 - float64(d*u))
	norm /= 1 - float64((d/32+8)*u)
	return float64(norm*(float64(2*g)/(1-g)+float64(10*u))) + float64((d+16)*0x1p-144)
}

// of returns at least the mean distance of a row to each cluster, until the next call.
func (b *pairBounds) of(at int) []float64 {
	if at < b.first || at >= b.first+pairTile {
		b.first = at
		end := min(at+pairTile, b.rows.Rows)
		b.g.ops.SqDists(b.sqDists.RowRange(0, end-at), b.rows.RowRange(at, end), b.rows, &b.ws)
	}
	row, own := b.sqDists.Row(at-b.first), b.shares[at]
	for j, c := range b.g.clusters {
		sum := 0.0
		for i, share := range b.shares[c.from:c.to] {
			if d := float64(row[c.from+i]) - (own + share); d > 0 {
				sum += math.Sqrt(d)
			}
		}
		b.least[j] = float64(sum / float64(c.len()) * (1 - meanSlack))
	}
	return b.least
}
