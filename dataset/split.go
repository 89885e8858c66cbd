package dataset

import (
	"math/bits"

	"github.com/gram-compute/gram/kernelops/philox"
)

// InTest says whether the record is held out for evaluation when that share of all
// records is. It depends on seed and identity alone, so neither shards nor other objects
// that come and go move a record to the other side (of records named by rows, objects that come before it do); and
// with a larger fraction a held-out record stays held out.
func InTest(seed uint64, fraction float64, id Identity) bool {
	return NewSplit(seed, fraction).InTest(id)
}

// Split answers InTest for many records of one seed and fraction. It is not safe for concurrent use.
type Split struct {
	draws    *Draws
	fraction float64
}

// NewSplit prepares a split.
func NewSplit(seed uint64, fraction float64) *Split {
	return &Split{draws: NewDraws(philox.New(seed, "split")), fraction: fraction}
}

// InTest is the function InTest.
func (s *Split) InTest(id Identity) bool { return s.draws.Float64(id) < s.fraction }

// Folds deals records into folds by their identity: a record stays in its fold whatever shards there are and whichever
// other records come and go. Folds have about equal sizes. It is not safe for concurrent use.
type Folds struct {
	draws *Draws
	n     int
}

// NewFolds deals into n folds, at least 1.
func NewFolds(seed uint64, n int) *Folds {
	return &Folds{draws: NewDraws(philox.New(seed, "folds")), n: n}
}

// Of is the number of a record's fold, from 1 to n.
func (f *Folds) Of(id Identity) int {
	high, _ := bits.Mul64(f.draws.Uint64(id), uint64(f.n))
	return int(high) + 1
}
