package kmeans

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/kernelops"
)

// silhouette sets the mean silhouette widths of a sample and of its records in each cluster (Rousseeuw, "Silhouettes: a
// graphical aid to the interpretation and validation of cluster analysis", Journal of Computational and Applied
// Mathematics 20, 1987): s = (b - a) / max(a, b), with a the mean distance to the sample's other records of the same
// cluster and b the least of the means to those of another. A record alone in its cluster has 0, and so has every
// record where there is one cluster only. O(n^2 * width) for n records; less where bounds spare clusters.
func (p *finishPhase) silhouette(ctx context.Context, m *model, draws []sampling.Draw) error {
	width, k := m.space.Width, m.clusters()
	m.silhouette, m.silhouettes = 0, slices.Repeat([]float64{noSilhouette}, k)
	if len(draws) == 0 {
		return nil
	}
	x := kernelops.NewMatrix(len(draws), width)
	c := chunk{X: x}
	for i, d := range draws {
		copy(x.Row(i), d.Row)
		c.IDs = append(c.IDs, d.ID)
	}
	ops := kernelops.Best()
	near := m.assigner(ops)
	if err := near.assign(c); err != nil {
		return err
	}
	g := gathered(x, near.index, p.cosine(), ops)
	widths, err := g.widths(ctx)
	if err != nil {
		return err
	}
	total, totals, members := 0.0, make([]float64, k), make([]int, k)
	for i, s := range widths {
		total += s
		totals[near.index[i]] += s
		members[near.index[i]]++
	}
	m.silhouette = total / float64(len(draws))
	for j, n := range members {
		if n > 0 {
			m.silhouettes[j] = totals[j] / float64(n)
		}
	}
	return nil
}

// clustered is a sample whose records are in the order of their clusters, and in that of the sample in a cluster.
type clustered struct {
	ops      *kernelops.Set
	x        kernelops.Matrix
	order    []int // of each row, in the sample
	clusters []span
	cosine   bool

	within []float64 // of each row, the sum of the distances to the others of its cluster
	center []float64 // one row
	groups []int32   // zeros
	dists  []float64
	bounds *meanBounds // nil where they spare nothing
	spent  int         // distances to means that bounds took more than they spared of those to rows
	asked  int         // rows for which they were asked
	open   tally       // rows of clusters that they left, but for the first of each
}

// span is the rows of a cluster.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// gathered orders the rows of x by their clusters.
func gathered(x kernelops.Matrix, index []int32, cosine bool, ops *kernelops.Set) *clustered {
	g := &clustered{ops: ops, x: kernelops.NewMatrix(x.Rows, x.Cols), cosine: cosine, order: make([]int, x.Rows),
		within: make([]float64, x.Rows), center: make([]float64, x.Cols), groups: make([]int32, x.Rows),
		dists: make([]float64, x.Rows)}
	for i := range g.order {
		g.order[i] = i
	}
	// total order: by number in one cluster
	slices.SortFunc(g.order, func(i, j int) int { return cmp.Or(cmp.Compare(index[i], index[j]), cmp.Compare(i, j)) })
	for at, i := range g.order {
		copy(g.x.Row(at), x.Row(i))
		if at == 0 || index[i] != index[g.order[at-1]] {
			g.clusters = append(g.clusters, span{at, at})
		}
		g.clusters[len(g.clusters)-1].to = at + 1
	}
	return g
}

// widths returns the silhouette width of each record of the sample.
func (g *clustered) widths(ctx context.Context) ([]float64, error) {
	widths := make([]float64, g.x.Rows)
	if len(g.clusters) == 1 {
		return widths, nil
	}
	if len(g.clusters) > 2 { // else there is one other cluster, which is the nearest
		g.bounds = newMeanBounds(g)
	}
	for own := range g.clusters {
		if err := g.addWithin(ctx, own); err != nil {
			return nil, err
		}
	}
	for own, c := range g.clusters {
		for at := c.from; at < c.to; at++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if c.len() > 1 {
				a := g.within[at] / float64(c.len()-1)
				widths[g.order[at]] = silhouetteWidth(a, g.nearestOther(at, own))
			}
		}
	}
	return widths, nil
}

// silhouetteWidth takes the mean distances to the others of a record's cluster, and to the nearest other cluster.
func silhouetteWidth(a, b float64) float64 {
	if math.IsInf(b, 1) || max(a, b) == 0 {
		return 0
	}
	return (b - a) / max(a, b)
}

// nearestOther is the least of the mean distances of a row to the clusters but its own. A cluster is left out if its
// bound is above a mean: that of the cluster of the least bound, or a lesser one.
func (g *clustered) nearestOther(at, own int) float64 {
	g.choose()
	least, first := []float64(nil), -1
	if g.bounds != nil {
		least = g.bounds.of(at)
		g.asked, g.spent = g.asked+1, g.spent+len(least)
		for j, bound := range least {
			if j != own && (first < 0 || bound < least[first]) {
				first = j
			}
		}
	}
	best := math.Inf(1)
	if first >= 0 {
		best = g.mean(at, g.clusters[first])
	}
	for j, c := range g.clusters {
		if j == own || j == first {
			continue
		}
		g.open.all += c.len()
		if least != nil && least[j] > best {
			g.spent -= c.len()
			continue
		}
		g.open.looked += c.len()
		best = min(best, g.mean(at, c))
	}
	return best
}

// choose looks twice at what bounds leave: if it is much by moments, pairs are looked at, and if it is much by pairs,
// bounds are left off.
func (g *clustered) choose() {
	n := g.x.Rows
	switch {
	case g.bounds == nil:
	case g.asked == n/32 && g.open.looked > g.open.all/3 && g.x.Cols >= leastOfPair && !g.cosine:
		g.bounds.near, g.open = newPairBounds(g), tally{}
	case g.bounds.near == nil && g.spent > n*n/32,
		g.bounds.near != nil && g.asked == n/16 && g.open.looked > g.open.all/2:
		g.bounds = nil
	}
}

// addWithin adds up the distances within a cluster, each once for both of its rows. A row's distances are added in the
// order of the other rows: those before it in their own turns.
func (g *clustered) addWithin(ctx context.Context, cluster int) error {
	c := g.clusters[cluster]
	for at := c.from; at < c.to; at++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		rest := span{at + 1, c.to}
		sqDists := g.sqDistances(at, rest)
		if g.bounds != nil {
			g.bounds.pairs(cluster, at, sqDists)
		}
		sum := g.within[at]
		for i, d := range sqDists {
			d = distance(d, g.cosine)
			sum += d
			g.within[rest.from+i] += d
		}
		g.within[at] = sum
	}
	if g.bounds != nil {
		g.bounds.end(cluster)
	}
	return nil
}

// sqDistances returns the squared distances of a row to others, until the next call.
func (g *clustered) sqDistances(at int, to span) []float64 {
	for j, v := range g.x.Row(at) {
		g.center[j] = float64(v)
	}
	dists := g.dists[:to.len()]
	g.ops.GroupDistances(dists, g.x.RowRange(to.from, to.to), g.center, g.groups[:to.len()])
	return dists
}

// mean is the mean distance of a row to the records of another cluster.
func (g *clustered) mean(at int, to span) float64 {
	sum := 0.0
	for _, d := range g.sqDistances(at, to) {
		sum += distance(d, g.cosine)
	}
	return sum / float64(to.len())
}
