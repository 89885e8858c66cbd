package naivebayes

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

// seenTexts adds up the texts of a leaf while it is read. Counts are in an array with a row for each term, or in a map
// where there are too many, whose memory is linear in the cells met.
type seenTexts struct {
	once  bool // a term counts once a document
	width int  // of a row: a power of two, above every label
	array []uint16
	met   int              // cells of the array that were 0 before, at most
	more  map[uint64]int64 // by cellOf: what is not in the array
	terms []int32          // of a document, once each
}

func newSeenTexts(once bool) *seenTexts { return &seenTexts{once: once, more: map[uint64]int64{}} }

// cellOf is the key of a cell in the map.
func cellOf(term, label int32) uint64 { return uint64(uint32(term))<<32 | uint64(uint32(label)) }

// add counts a text.
func (s *seenTexts) add(label int32, terms []int32) {
	if s.once {
		s.terms = append(s.terms[:0], terms...)
		slices.Sort(s.terms)
		terms = slices.Compact(s.terms)
	}
	if int(label) >= s.width {
		s.widen(int(label) + 1)
	}
	for _, term := range terms {
		at := int(term)*s.width + int(label)
		if at >= len(s.array) && !s.lengthen(at+1) {
			s.more[cellOf(term, label)]++
			continue
		}
		s.array[at]++
		switch s.array[at] {
		case 0:
			s.more[cellOf(term, label)] += cellLimit
		case 1:
			s.met++
		}
	}
}

// lengthen makes room for some more rows; false where there would be too many cells. All rows are whole.
func (s *seenTexts) lengthen(cells int) bool {
	size := max(leastSeen, s.width)
	for size < cells {
		size *= 2
	}
	if size > denseCells {
		return false
	}
	longer := newCells(size)
	copy(longer, s.array)
	s.close()
	s.array = longer
	return true
}

// leastSeen is how many cells an array begins with.
const leastSeen = denseCells / 32

// widen makes room for some more labels.
func (s *seenTexts) widen(labels int) {
	was := *s
	s.array, s.width = nil, 1
	for s.width < labels {
		s.width *= 2
	}
	for at, count := range was.array {
		if count == 0 {
			continue
		}
		term, label := at/was.width, at%was.width
		if to := term*s.width + label; to < len(s.array) || s.lengthen(to+1) {
			s.array[to] = count
		} else {
			s.more[cellOf(int32(term), int32(label))] += int64(count)
		}
	}
	was.close()
}

// close ends it; nothing of it may be used any more.
func (s *seenTexts) close() {
	if s.array != nil {
		used := s.array
		s.array = nil
		usedCells.Put(&used)
	}
}

// texts returns what was counted.
func (s *seenTexts) texts(records int64, counts *vocabulary.Counts, order *vocabulary.Order) *texts {
	beyond := slices.Sorted(maps.Keys(s.more))
	most := s.met + len(beyond)
	t := &texts{records: records, labels: counts.Labels.Keys, documents: counts.Labels.Columns[0],
		terms: counts.Terms.Keys, ends: make([]int64, len(order.Terms)),
		class: make([]int32, 0, most+len(order.Labels)), count: make([]int64, 0, most+len(order.Labels))}
	rank := make([]int32, len(order.Labels))
	for y, label := range order.Labels {
		rank[label] = int32(y)
	}
	for i, term := range order.Terms {
		from, to := 0, 0
		if len(beyond) > 0 {
			from, _ = slices.BinarySearch(beyond, cellOf(term, 0))
			to, _ = slices.BinarySearch(beyond, cellOf(term+1, 0))
		}
		if row := int(term) * s.width; row < len(s.array) {
			s.addRow(t, s.array[row:][:s.width], order.Labels, term, from < to) // which leaves room for a row
		} else {
			s.addMore(t, beyond[from:to], rank)
		}
		t.ends[i] = int64(len(t.class))
	}
	return t
}

// addRow adds the cells of a term in the order of the labels. Some may have more in the map.
func (s *seenTexts) addRow(t *texts, row []uint16, labels []int32, term int32, more bool) {
	n := len(t.class)
	class, count := t.class[n:n+len(labels)], t.count[n:n+len(labels)]
	at := 0
	for y, label := range labels { // each is written and those of 0 are written over: which are, is not foreseen
		found := int64(row[label])
		if more {
			found += s.more[cellOf(term, label)]
		}
		class[at], count[at] = int32(y), found
		at += int(uint64(-found) >> 63)
	}
	t.class, t.count = t.class[:n+at], t.count[:n+at]
}

// addMore adds the cells of a term that the map alone has.
func (s *seenTexts) addMore(t *texts, keys []uint64, rank []int32) {
	// total order: the cells of a term have different labels
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(rank[uint32(a)], rank[uint32(b)]) })
	for _, key := range keys {
		t.class, t.count = append(t.class, rank[uint32(key)]), append(t.count, s.more[key])
	}
}
