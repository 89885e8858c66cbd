package features

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// maxHashBits bounds the columns: models hold a number, or some, for each.
const maxHashBits = 24

// Hashing gives texts 2^Bits columns, the same for every corpus, instead of one for each term of a dictionary.
type Hashing struct {
	Bits   int  `json:"bits"`
	Signed bool `json:"signed"` // inner products are then those of the counts in expectation
}

// String is the parameters for people.
func (h Hashing) String() string {
	if h == (Hashing{}) {
		return "none"
	}
	return fmt.Sprintf("of %d bits, signed %t", h.Bits, h.Signed)
}

// Parameters declares the parameters.
func (h *Hashing) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Whole("bits", &h.Bits, 0, 1, maxHashBits).Missing("required").
			Says("Logarithm of the number of columns."),
		params.Flag("signed", &h.Signed, false).
			Says("Counts half of the terms as -1, so that colliding terms cancel on average.").
			From("Weinberger et al., ICML 2009, section 2."),
	}
}

// Check rejects a missing number of bits.
func (h *Hashing) Check() error {
	if h.Bits == 0 {
		return protocol.SpecFault("bits is from 1 to %d, not 0", maxHashBits)
	}
	return nil
}

// hashBits is an array of a space that hashes, in a state or model.
const hashBits = "hashing.bits"

// hasher finds the columns of terms.
type hasher struct {
	Hashing
	key [2]uint64
}

func newHasher(h Hashing, seed uint64) *hasher {
	first, second := philox.New(seed, "features/hashing").Block(0, 0)
	return &hasher{h, [2]uint64{first, second}}
}

func (h *hasher) width() int { return 1 << h.Bits }

func (h *hasher) hash(term []byte) uint64 { return siphash(h.key, term) }

// column is the low bits of a hash, the sign its highest bit.
func (h *hasher) column(hash uint64) (column int32, sign int64) {
	sign = 1
	if h.Signed && hash>>63 == 1 {
		sign = -1
	}
	return int32(hash & (1<<h.Bits - 1)), sign
}

// Fields lists the hashing.
func (h *hasher) Fields(f *jobs.Fields) {
	jobs.Enum(f, hashBits, &h.Bits, 1, maxHashBits)
	jobs.Flag[uint8](f, "hashing.signed", &h.Signed)
	jobs.Tuple(f, "hashing.key", &h.key[0], &h.key[1])
}

// hashBagger writes texts as sums by hashed column. It keeps scratch memory: one goroutine at a time.
type hashBagger struct {
	tokenizer *text.Tokenizer
	hasher    *hasher
	scratch   []byte
	found     []int64 // each occurrence: twice the column, and one where it counts as -1
}

// bag appends the columns of a document and their sums to a row, in ascending order. Sums of zero are no entries.
func (b *hashBagger) bag(document []byte, indices []int32, values []float32) ([]int32, []float32) {
	b.found = b.found[:0]
	b.scratch = b.tokenizer.Tokens(b.scratch, document, func(term []byte) {
		column, sign := b.hasher.column(b.hasher.hash(term))
		b.found = append(b.found, 2*int64(column)+(1-sign)/2)
	})
	slices.Sort(b.found)
	for begin, end := 0, 0; begin < len(b.found); begin = end {
		column, sum := b.found[begin]/2, int64(0)
		for end = begin; end < len(b.found) && b.found[end]/2 == column; end++ {
			sum += 1 - 2*(b.found[end]%2)
		}
		if sum != 0 {
			indices, values = append(indices, int32(column)), append(values, float32(sum))
		}
	}
	return indices, values
}

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

func ascend[T cmp.Ordered](list []T) bool {
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
