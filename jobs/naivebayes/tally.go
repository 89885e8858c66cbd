package naivebayes

import (
	"maps"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs/vocabulary"
)

// denseCells is how many cells at most a tally keeps as a plain array, of 16 MiB.
const denseCells = 1 << 22

// waitingCounts is how many counts of vectors wait at most, of 4 MiB.
const waitingCounts = 1 << 19

// tally adds up counts by class and place, which is a term, or a column of vectors. Where there are few cells it
// is an array with a row for each class, else a map, whose memory is linear in the cells met.
type tally struct {
	places, classes int
	dense           []uint32
	room            int64   // what any cell of dense can take before it overflows
	spilled         []int64 // what the cells of dense held when there was no room; nil before
	met             map[int64]int64
	waiting         [][]uint64 // counts of vectors for each class: the count above 32 bits, the place below
}

func newTally(places, classes int) *tally {
	t := &tally{places: places, classes: classes, room: math.MaxUint32}
	if classes > 0 && places <= denseCells/classes {
		t.dense = make([]uint32, places*classes)
	} else {
		t.met = map[int64]int64{}
	}
	return t
}

// addVector adds the counts of a vector to a class; false if a value is no count. They wait until there are
// many for the class: its row of the array is small enough to stay in the cache meanwhile.
func (t *tally) addVector(class int64, index []int32, values []float32) bool {
	if t.waiting == nil {
		t.waiting = make([][]uint64, t.classes)
	}
	w := t.waiting[class]
	begin := len(w)
	if begin+len(index) > waitingCounts/t.classes {
		t.flush(class)
		begin = 0
	}
	w = slices.Grow(w[:begin], len(index))[:begin+len(index)]
	t.waiting[class] = w
	values = values[:len(index)]
	w = w[begin:]
	for p, j := range index {
		n, ok := vocabulary.Occurrences(values[p])
		if !ok {
			return false
		}
		w[p] = uint64(n)<<32 | uint64(j)
	}
	return true
}

// flush adds what waits for a class. Places beyond the last are passed over.
func (t *tally) flush(class int64) {
	total := int64(0)
	for _, w := range t.waiting[class] {
		total += int64(w >> 32)
	}
	if t.dense == nil || total > math.MaxUint32 {
		for _, w := range t.waiting[class] {
			if j, n := int32(w&math.MaxUint32), int64(w>>32); n > 0 && int(j) < t.places {
				t.add(class, j, n)
			}
		}
	} else {
		t.reserve(total)
		row := t.dense[class*int64(t.places):][:t.places]
		for _, w := range t.waiting[class] {
			if j := int(w & math.MaxUint32); j < len(row) {
				row[j] += uint32(w >> 32)
			}
		}
	}
	t.waiting[class] = t.waiting[class][:0]
}

// reserve makes room for n more, of at most 2^32-1, in any cell.
func (t *tally) reserve(n int64) {
	if n > t.room {
		if t.spilled == nil {
			t.spilled = make([]int64, len(t.dense))
		}
		for i, count := range t.dense {
			t.spilled[i] += int64(count)
		}
		clear(t.dense)
		t.room = math.MaxUint32
	}
	t.room -= n
}

// add adds n, from 1 to 2^24, to a cell.
func (t *tally) add(class int64, place int32, n int64) {
	at := class*int64(t.places) + int64(place)
	if t.dense != nil {
		t.reserve(n)
		t.dense[at] += uint32(n)
	} else {
		t.met[at] += n
	}
}

// at is what a cell of the array holds.
func (t *tally) at(i int) int64 {
	n := int64(t.dense[i])
	if t.spilled != nil {
		n += t.spilled[i]
	}
	return n
}

// cells returns those above 0, in the order of terms. places are those of the terms, nil where they are the terms.
func (t *tally) cells(places []int32) cells {
	for class := range t.waiting {
		t.flush(int64(class))
	}
	if t.dense == nil {
		return t.cellsMet(places)
	}
	n := 0
	for i := range t.dense {
		if t.at(i) > 0 {
			n++
		}
	}
	c := cells{make([]int64, n), make([]int64, n)}
	n = 0
	for term := range t.terms(places) {
		place := term
		if places != nil {
			place = int(places[term])
		}
		for y := range t.classes {
			if count := t.at(y*t.places + place); count > 0 {
				c.at[n], c.count[n] = int64(term*t.classes+y), count
				n++
			}
		}
	}
	return cells{c.at[:n], c.count[:n]}
}

func (t *tally) terms(places []int32) int {
	if places != nil {
		return len(places)
	}
	return t.places
}

// cellsMet is cells of the map.
func (t *tally) cellsMet(places []int32) cells {
	term := map[int64]int64{}
	for i, place := range places {
		term[int64(place)] = int64(i)
	}
	counts := make(map[int64]int64, len(t.met))
	for _, at := range slices.Sorted(maps.Keys(t.met)) {
		class, place := at/int64(t.places), at%int64(t.places)
		if places != nil {
			i, ok := term[place]
			if !ok {
				continue
			}
			place = i
		}
		counts[place*int64(t.classes)+class] = t.met[at]
	}
	return sortedCells(counts)
}
