package knn

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
)

// grain is how much work a leaf of the search does, in columns of pairs: of a core that multiplies bytes, 2^38 are some
// two seconds.
//
// A leaf takes the shards of the base in runs. Its first rows find empty lists, which all of them may enter; what is
// known after these keeps nearly all others out. So a longer run takes less time by the row. But workers share
// the search leaf by leaf, and one that is lost loses its whole leaf: so runs are bounded.
type grain struct {
	enough      float64 // leaves of a round: with as many, they grow no longer
	least, most float64 // of a leaf, whatever their number
}

// usual is the grain of all jobs. It is no part of a result.
var usual = grain{enough: 48, least: 1 << 38, most: 3 << 40}

// leaves is how many leaves each tree of a search has: a function of the index and of the number of trees alone. Of the
// queries only their shards are known, which are taken to be as those of the base are.
func (in *index) leaves(g grain, trees int) int {
	shards := len(in.offsets) - 1
	records := float64(in.offsets[shards])
	tree := float64(float64(records/float64(shards)) * float64(records*in.pairWork()))
	work := min(max(float64(tree*float64(trees))/g.enough, g.least), g.most)
	if leaves := math.Ceil(tree / work); leaves < float64(shards) {
		return max(1, int(leaves)) //lint:checked below the number of shards
	}
	return shards
}

// run returns the shards of the base that a leaf searches.
func (in *index) run(g grain, trees, leaf int) (pairwise.Run, error) {
	shards, leaves := len(in.offsets)-1, in.leaves(g, trees)
	if leaf < 0 || leaf >= leaves {
		return pairwise.Run{}, jobs.Malformed("leaf %d is not one of %d over %d shards", leaf, leaves, shards)
	}
	return pairwise.RunOf(shards, leaves, leaf), nil
}

// pairWork is about how long the search of a pair takes, in columns of a product.
func (in *index) pairWork() float64 {
	width := 0
	if in.vectors != nil {
		width = in.vectors.Width
	}
	if in.dims > 0 {
		width = in.dims
	}
	switch {
	case in.params.Metric == edit:
		return 1 << 16
	case in.params.Metric == haversine:
		return 1 << 12
	case in.params.Metric.given():
		return 1 << 8 // one number
	case in.dims == 0 && !in.vectors.Dense() || in.params.Metric.plain():
		return 1 << 9 // by entries, or words of bits
	case in.params.Metric == l2 || in.params.Metric == cosine || in.params.Metric == innerProduct:
		return float64(32 + width)
	}
	return float64(32 + 8*width) // differences, of float32
}
