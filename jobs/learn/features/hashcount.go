package features

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// maxCountedTerms bounds the distinct terms that are counted: 1 MiB of each partial.
const maxCountedTerms = 1 << 17

// hashes are the distinct terms of records, each known by its 64-bit hash; no more than maxCountedTerms of them. Two of
// n terms are taken for one with a probability of n^2 / 2^65.
type hashes struct {
	seen map[uint64]struct{}
	many bool // more than are counted, and seen is empty
}

func newHashes() hashes { return hashes{seen: map[uint64]struct{}{}} }

func (h *hashes) add(hash uint64) {
	if h.many {
		return
	}
	h.seen[hash] = struct{}{}
	if len(h.seen) > maxCountedTerms {
		*h = hashes{many: true}
	}
}

// none says that there was no term at all.
func (h hashes) none() bool { return !h.many && len(h.seen) == 0 }

// plus is the union.
func (h hashes) plus(other hashes) hashes {
	if h.many || other.many {
		return hashes{many: true}
	}
	sum := newHashes()
	for _, part := range []hashes{h, other} {
		for hash := range part.seen { //lint:ordered a union
			sum.add(hash)
		}
	}
	return sum
}

// Fields lists the hashes in order.
func (h *hashes) Fields(f *jobs.Fields) {
	jobs.Flag[uint8](f, "hashes.many", &h.many) // 1 where they are too many to count
	list := slices.Sorted(maps.Keys(h.seen))
	jobs.List(f, "hashes", &list)
	if !f.Reading() {
		return
	}
	f.Require(len(list) <= maxCountedTerms && !(h.many && len(list) > 0),
		"a partial of %d hashed terms, too many to count: %v", len(list), h.many)
	f.Require(ascend(list), "hashed terms are not in order")
	*h = hashes{many: h.many, seen: make(map[uint64]struct{}, len(list))}
	for _, hash := range list {
		h.seen[hash] = struct{}{}
	}
}

func ascend(list []uint64) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

// metrics are the distinct terms, the columns that hold one or more, and the terms that share theirs; none where there
// are too many terms to count.
func (h hashes) metrics(hasher *hasher) []jobs.Metric {
	if h.many {
		return nil
	}
	terms := map[int32]int64{} // of each column
	for hash := range h.seen { //lint:ordered counts of integers
		column, _ := hasher.column(hash)
		terms[column]++
	}
	shared := int64(0)
	for _, n := range terms { //lint:ordered a sum of integers
		if n > 1 {
			shared += n
		}
	}
	return []jobs.Metric{
		jobs.CountMetric("features.hashed_terms", int64(len(h.seen))),
		jobs.CountMetric("features.hashed_columns", int64(len(terms))),
		jobs.CountMetric("features.hash_collisions", shared),
	}
}
