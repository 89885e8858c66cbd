package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// idHash is the hash of an id: 128 bits, so that two ids of 2^40 have the same with a probability below 2^-48.
type idHash [2]uint64

const hashBytes = 16

func (h idHash) compare(other idHash) int {
	if h[0] != other[0] {
		return cmp.Compare(h[0], other[0])
	}
	return cmp.Compare(h[1], other[1])
}

// idHasher hashes ids with SHA-256 under a key of the job's seed and the data set. Not safe for concurrent use.
type idHasher struct {
	key  []byte
	text []byte
}

func newIDHasher(seed uint64, of jobs.Source) *idHasher {
	key := binary.LittleEndian.AppendUint64([]byte("gram/ids\x00"), seed)
	key = append(key, byte(of))
	return &idHasher{key: key, text: key}
}

func (h *idHasher) hash(id dataset.Identity) idHash {
	h.text = append(h.text[:len(h.key)], id.Object...)
	sum := sha256.Sum256(h.text)
	return idHash{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// maxTwice is how many hashes that occur more than once are kept.
const maxTwice = 64

// idList lists the hashes of records below a node, as far as they fit.
type idList struct {
	records int64    // whose hashes are in the range of the tree
	last    uint64   // hashes up to that one, by their higher halves, are in the list
	flat    []uint64 // the hashes, ascending, each once: two numbers each, for lists share the memory of their arrays
	twice   []idHash // those among them that occur more than once, ascending, the first of them
}

func (l *idList) len() int { return len(l.flat) / 2 }

func (l *idList) at(i int) idHash { return idHash{l.flat[2*i], l.flat[2*i+1]} }

// idGatherer makes the list of a leaf.
type idGatherer struct {
	list   idList // of records, last and twice
	hashes []idHash
	most   int
}

// add adds a hash. The hashes are settled whenever they are twice as many as may be kept, so that memory is bounded;
// which are kept does not depend on when that is.
func (g *idGatherer) add(h idHash) error {
	g.list.records++
	if h[0] > g.list.last {
		return nil
	}
	if g.hashes = append(g.hashes, h); len(g.hashes) < 2*g.most {
		return nil
	}
	return g.settle()
}

// settle puts the hashes in order and drops what is too much.
func (g *idGatherer) settle() error {
	sortHashes(g.hashes)
	kept := g.hashes[:0]
	var twice []idHash
	for _, h := range g.hashes {
		if n := len(kept); n > 0 && kept[n-1] == h {
			if m := len(twice); m == 0 || twice[m-1] != h {
				twice = append(twice, h)
			}
			continue
		}
		kept = append(kept, h)
	}
	g.hashes = kept
	g.list.twice = unitedHashes(g.list.twice, twice)
	if len(kept) > g.most {
		if err := g.list.endBefore(kept[g.most]); err != nil {
			return err
		}
	}
	g.hashes = g.hashes[:sort.Search(len(kept), func(i int) bool { return kept[i][0] > g.list.last })]
	g.list.trimTwice()
	return nil
}

// hashesOfPart is how many hashes a part has, at the least on average, that sortHashes sorts by itself.
const hashesOfPart = 8

// sortHashes puts hashes in order, in place: in linear time, for they are spread evenly over their range. Each goes to
// its part of that range first (American flag sort: McIlroy, Bostic and McIlroy, Engineering Radix Sort, 1993).
func sortHashes(hashes []idHash) {
	lowest, highest := ^uint64(0), uint64(0)
	for _, h := range hashes {
		lowest, highest = min(lowest, h[0]), max(highest, h[0])
	}
	parts := 1 << bits.Len(uint(len(hashes)/(2*hashesOfPart)))
	shift := max(0, bits.Len64(highest-min(lowest, highest))-bits.TrailingZeros(uint(parts)))
	part := func(h idHash) int { return int((h[0] - lowest) >> shift) }
	ends := make([]int, parts)
	for _, h := range hashes {
		ends[part(h)]++
	}
	begin, next := 0, make([]int, parts)
	for i, n := range ends {
		next[i] = begin
		begin += n
		ends[i] = begin
	}
	for i, end := range ends {
		for next[i] < end {
			k := part(hashes[next[i]])
			if k != i {
				hashes[next[i]], hashes[next[k]] = hashes[next[k]], hashes[next[i]]
			}
			next[k]++
		}
	}
	begin = 0
	for _, end := range ends {
		slices.SortFunc(hashes[begin:end], idHash.compare) // total order: equal hashes are one
		begin = end
	}
}

// finish returns the list.
func (g *idGatherer) finish() (*idList, error) {
	if err := g.settle(); err != nil {
		return nil, err
	}
	g.list.flat = flatHashes(g.hashes)
	return &g.list, nil
}

// endBefore leaves the hashes out that have the higher half of h, or a greater one.
func (l *idList) endBefore(h idHash) error {
	if h[0] == 0 {
		return jobs.Malformed("more ids than a list holds have hashes that begin with 64 zeros")
	}
	l.last = min(l.last, h[0]-1)
	return nil
}

// trimTwice drops from twice what is beyond the end of the list, and what is beyond maxTwice.
func (l *idList) trimTwice() {
	n := sort.Search(len(l.twice), func(i int) bool { return l.twice[i][0] > l.last })
	l.twice = l.twice[:min(n, maxTwice)]
}

// plus unites two lists; linear in both.
func (l *idList) plus(right *idList, most int) (*idList, error) {
	sum := &idList{records: l.records + right.records, last: min(l.last, right.last)}
	sum.flat = make([]uint64, 0, 2*min(l.len()+right.len(), most))
	var both []idHash
	for a, b := l.flat, right.flat; len(a) > 0 || len(b) > 0; {
		var h idHash
		order := -1
		switch {
		case len(a) == 0:
			order = 1
		case len(b) > 0:
			order = idHash{a[0], a[1]}.compare(idHash{b[0], b[1]})
		}
		if order <= 0 {
			h, a = idHash{a[0], a[1]}, a[2:]
		}
		if order >= 0 {
			h, b = idHash{b[0], b[1]}, b[2:]
		}
		if order == 0 {
			both = append(both, h)
		}
		if h[0] > sum.last {
			break
		}
		if sum.len() == most {
			if err := sum.endBefore(h); err != nil {
				return nil, err
			}
			break
		}
		sum.flat = append(sum.flat, h[0], h[1])
	}
	n := sort.Search(sum.len(), func(i int) bool { return sum.flat[2*i] > sum.last })
	sum.flat = sum.flat[:2*n]
	sum.twice = unitedHashes(unitedHashes(l.twice, right.twice), both)
	sum.trimTwice()
	return sum, nil
}

// unitedHashes merges two ascending lists.
func unitedHashes(a, b []idHash) []idHash {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, idHash.compare) // total order: equal hashes are one
	return slices.Compact(all)
}

// Fields lists the list.
func (l *idList) Fields(f *jobs.Fields) {
	jobs.Scalar(f, idsPrefix+"records", &l.records)
	jobs.Scalar(f, idsPrefix+"last", &l.last)
	jobs.List(f, idsPrefix+"hashes", &l.flat, -1, 2)
	twice := flatHashes(l.twice)
	jobs.List(f, twiceArray, &twice, -1, 2)
	if !f.Reading() {
		return
	}
	for ; len(twice) > 0; twice = twice[2:] {
		l.twice = append(l.twice, idHash{twice[0], twice[1]})
	}
	n := l.len()
	f.Require(l.records >= int64(n) && len(l.twice) <= maxTwice && (n == 0 || l.at(n - 1)[0] <= l.last),
		"%d ids of %d records, %d of them twice", n, l.records, len(l.twice))
	ascends := true
	for i := 1; i < n; i++ {
		ascends = ascends && l.at(i-1).compare(l.at(i)) < 0
	}
	f.Require(ascends, "array %q does not ascend", idsPrefix+"hashes")
	f.Require(slices.IsSortedFunc(l.twice, idHash.compare), "array %q does not ascend", twiceArray)
}
