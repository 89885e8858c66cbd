package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// idHash is the hash of an id: 128 bits, so that two ids of 2^40 have the same with a probability below 2^-48.
type idHash [2]uint64

const hashBytes = 16

func (h idHash) compare(other idHash) int {
	return cmp.Or(cmp.Compare(h[0], other[0]), cmp.Compare(h[1], other[1]))
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
	hashes  []idHash // ascending, each once
	twice   []idHash // those among them that occur more than once, ascending, the first of them
}

// add adds a hash to a list that is not settled. It is settled whenever it holds twice the hashes that it may, so that
// memory is bounded; which records are kept does not depend on when that is.
func (l *idList) add(h idHash, most int) error {
	l.records++
	if h[0] > l.last {
		return nil
	}
	if l.hashes = append(l.hashes, h); len(l.hashes) < 2*most {
		return nil
	}
	return l.settle(most)
}

// settle puts the hashes in order and drops what is too much.
func (l *idList) settle(most int) error {
	slices.SortFunc(l.hashes, idHash.compare) // total order: equal hashes are one
	kept := l.hashes[:0]
	var twice []idHash
	for _, h := range l.hashes {
		if n := len(kept); n > 0 && kept[n-1] == h {
			if m := len(twice); m == 0 || twice[m-1] != h {
				twice = append(twice, h)
			}
			continue
		}
		kept = append(kept, h)
	}
	l.hashes = kept
	l.twice = unitedHashes(l.twice, twice)
	return l.cut(most)
}

// cut drops the largest hashes beyond most, and with them all others of the same higher half.
func (l *idList) cut(most int) error {
	if len(l.hashes) > most {
		beyond := l.hashes[most][0]
		if beyond == 0 {
			return jobs.Malformed("%d ids whose hashes begin with 64 zeros", most)
		}
		l.last = beyond - 1
	}
	drop := func(list []idHash) []idHash {
		at, _ := slices.BinarySearchFunc(list, l.last, func(h idHash, last uint64) int {
			if h[0] <= last {
				return -1
			}
			return 1
		})
		return list[:at]
	}
	l.hashes, l.twice = drop(l.hashes), drop(l.twice)
	l.twice = l.twice[:min(len(l.twice), maxTwice)]
	return nil
}

// plus unites two lists; linear in both.
func (l *idList) plus(right *idList, most int) (*idList, error) {
	sum := &idList{records: l.records + right.records, last: min(l.last, right.last)}
	sum.hashes = make([]idHash, 0, min(len(l.hashes)+len(right.hashes), most+1))
	twice := unitedHashes(l.twice, right.twice)
	a, b := l.hashes, right.hashes
	var both []idHash
	for (len(a) > 0 || len(b) > 0) && len(sum.hashes) <= most {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].compare(b[0]) < 0:
			sum.hashes, a = append(sum.hashes, a[0]), a[1:]
		case len(a) == 0 || a[0].compare(b[0]) > 0:
			sum.hashes, b = append(sum.hashes, b[0]), b[1:]
		default:
			both = append(both, a[0])
			sum.hashes, a, b = append(sum.hashes, a[0]), a[1:], b[1:]
		}
	}
	sum.twice = unitedHashes(twice, both)
	return sum, sum.cut(most)
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
	hashFields(f, idsPrefix+"hashes", &l.hashes)
	hashFields(f, twiceArray, &l.twice)
	f.Require(l.records >= int64(len(l.hashes)) && len(l.twice) <= maxTwice &&
		(len(l.hashes) == 0 || l.hashes[len(l.hashes)-1][0] <= l.last),
		"%d ids of %d records, %d of them twice", len(l.hashes), l.records, len(l.twice))
}

// hashFields lists ascending hashes as an array of two columns.
func hashFields(f *jobs.Fields, name string, hashes *[]idHash) {
	flat := flatHashes(*hashes)
	jobs.List(f, name, &flat, -1, 2)
	if !f.Reading() {
		return
	}
	*hashes = make([]idHash, len(flat)/2)
	for i := range *hashes {
		(*hashes)[i] = idHash{flat[2*i], flat[2*i+1]}
		f.Require(i == 0 || (*hashes)[i-1].compare((*hashes)[i]) < 0, "array %q does not ascend", name)
	}
}
