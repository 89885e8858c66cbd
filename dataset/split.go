package dataset

import "github.com/gram-compute/gram/kernelops/philox"

// InTest says whether the record is held out for evaluation when that share of all
// records is. It depends on seed and identity alone, so neither shards nor other objects
// that come and go move a record to the other side; and with a larger fraction
// a held-out record stays held out.
func InTest(seed uint64, fraction float64, id Identity) bool {
	s := NewSplit(seed, fraction)
	return s.InTest(id)
}

// Split answers InTest for many records of one seed and fraction, hashing each
// object's key once in a row of its records. It is not safe for concurrent use.
type Split struct {
	key      philox.Key
	fraction float64
	name     string
	object   philox.Object
}

// NewSplit prepares a split.
func NewSplit(seed uint64, fraction float64) *Split {
	key := philox.New(seed, "split")
	return &Split{key: key, fraction: fraction, object: key.Object("")}
}

// InTest is the function InTest.
func (s *Split) InTest(id Identity) bool {
	if id.Object != s.name {
		s.name, s.object = id.Object, s.key.Object(id.Object)
	}
	return s.object.Float64(id.Offset) < s.fraction
}
