package dataset

import "github.com/gram-compute/gram/kernelops/philox"

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
