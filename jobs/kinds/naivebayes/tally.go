package naivebayes

import (
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

const (
	// denseCells is how many cells at most a tally keeps as a plain array, of 8 MiB.
	denseCells = 1 << 22
	// cellLimit is above what a cell of the array holds.
	cellLimit = 1 << 16
)

// tally adds up counts by class and place, which is a term, or a column of vectors. Where there are few cells it
// is an array with a row for each class, else a map, whose memory is linear in the cells met. Cells of the array are
// small, so that a row stays in the cache; what does not fit is carried.
type tally struct {
	places, classes int
	dense           []uint16
	carried         map[int32][]int64 // of a place: what each class has beyond its cell, a multiple of cellLimit
	met             map[int64]int64
	waiting         *waiting // counts of vectors; nil where they do not wait
}

// newTally returns a tally of terms.
func newTally(places, classes int) *tally {
	t := &tally{places: places, classes: classes}
	if classes > 0 && places <= denseCells/classes {
		t.dense, t.carried = newCells(places*classes), map[int32][]int64{}
	} else {
		t.met = map[int64]int64{}
	}
	return t
}

// usedCells are arrays of tallies that have ended: a leaf takes milliseconds, of which fresh memory would be a part.
var usedCells sync.Pool

// newCells returns an array of zeros.
func newCells(n int) []uint16 {
	if used, ok := usedCells.Get().(*[]uint16); ok && cap(*used) >= n {
		cells := (*used)[:n]
		clear(cells)
		return cells
	}
	cells := make([]uint16, n)
	clear(cells) // else memory fresh from the system is mapped twice: when it is read, and when it is written to
	return cells
}

// close ends a tally; nothing of it may be used any more.
func (t *tally) close() {
	if t != nil && t.dense != nil {
		used := t.dense
		t.dense = nil
		usedCells.Put(&used)
	}
}

// newColumnTally returns a tally of the columns of vectors.
func newColumnTally(places, classes int) *tally {
	t := newTally(places, classes)
	if t.dense != nil {
		t.waiting = newWaiting(classes)
	}
	return t
}

// row is that of a class in the array.
func (t *tally) row(class int64) []uint16 { return t.dense[int(class)*t.places:][:t.places] }

// add adds n, from 1 to 2^24, to a cell.
func (t *tally) add(class int64, place int32, n int64) {
	if t.dense == nil {
		t.met[class*int64(t.places)+int64(place)] += n
		return
	}
	cell := &t.row(class)[place]
	sum := int64(*cell) + n
	*cell = uint16(sum)
	if sum >= cellLimit {
		t.carry(class, place, sum&^(cellLimit-1))
	}
}

// addTerms adds one for each term of a document.
func (t *tally) addTerms(class int64, terms []int32) {
	if t.dense == nil {
		for _, term := range terms {
			t.add(class, term, 1)
		}
		return
	}
	row := t.row(class)
	for _, term := range terms {
		row[term]++
		if row[term] == 0 {
			t.carry(class, term, cellLimit)
		}
	}
}

// carry keeps what a cell of the array cannot.
func (t *tally) carry(class int64, place int32, n int64) {
	if t.carried[place] == nil {
		t.carried[place] = make([]int64, t.classes)
	}
	t.carried[place][class] += n
}

// cells returns those above 0, in the order of terms. places are those of the terms, nil where they are the terms.
func (t *tally) cells(places []int32) cells {
	if t.dense == nil {
		return t.cellsMet(places)
	}
	if t.waiting != nil {
		for class := range t.classes {
			t.flush(int64(class))
		}
	}
	most := t.most()
	c := cells{make([]int64, 0, most), make([]int64, 0, most)}
	if places == nil {
		masks := make([]uint64, (t.classes+63)/64*maskedPlaces)
		for from := 0; from < t.places; from += maskedPlaces {
			t.addMasked(&c, masks, from, min(from+maskedPlaces, t.places))
		}
		return c
	}
	for term, place := range places {
		for y := range t.classes {
			if count := t.count(y, int(place)); count > 0 {
				c.add(int64(term*t.classes+y), count)
			}
		}
	}
	return c
}

// most is how many cells of the array are above 0, at most.
func (t *tally) most() int {
	most := t.classes * len(t.carried)
	for _, count := range t.dense {
		most += int((uint32(count) + cellLimit - 1) / cellLimit)
	}
	return most
}

// count is that of a cell of the array.
func (t *tally) count(class, place int) int64 {
	count := int64(t.dense[class*t.places+place])
	if len(t.carried) == 0 {
		return count
	}
	if beyond := t.carried[int32(place)]; beyond != nil {
		count += beyond[class]
	}
	return count
}

// maskedPlaces is how many places addMasked looks at.
const maskedPlaces = 1024

// addMasked adds the cells of some places. It goes along the rows of the array and notes which classes have a count at
// each place, 64 of them in a mask, before it goes from place to place.
func (t *tally) addMasked(c *cells, masks []uint64, from, to int) {
	clear(masks)
	for y := range t.classes {
		of := masks[y/64*maskedPlaces:][:to-from]
		for place, count := range t.row(int64(y))[from:to] {
			of[place] |= uint64((uint32(count)+cellLimit-1)/cellLimit) << (y % 64)
		}
	}
	for place := from; place < to; place++ {
		beyond := len(t.carried) > 0 && t.carried[int32(place)] != nil
		for first := 0; first < t.classes; first += 64 {
			mask := masks[first/64*maskedPlaces+place-from]
			if beyond { // of a class whose cell is 0 by chance, too
				mask = ^uint64(0) >> max(0, 64-(t.classes-first))
			}
			for ; mask != 0; mask &= mask - 1 {
				y := first + bits.TrailingZeros64(mask)
				if count := t.count(y, place); count > 0 {
					c.add(int64(place*t.classes+y), count)
				}
			}
		}
	}
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

const (
	// waitingCounts is how many counts of vectors wait at most, of 2 MiB.
	waitingCounts = 1 << 19
	// waitingClasses bounds the lists, lest each hold few.
	waitingClasses = waitingCounts / 128
	// placeBits are those of a place in a waiting count, which has the others: greater counts, which are rare, do
	// not wait.
	placeBits = 24
	placeMask = 1<<placeBits - 1
	tooMany   = 1 << (32 - placeBits)
)

// waiting are counts of vectors that wait for each class until there are many. Then they are added while the class's
// row of the array stays in the cache; each where it belongs at once would miss it each time. Lists for parts of a row,
// that would stay even nearer, were slower by half: where a vector goes on to the next part is not foreseen.
type waiting struct {
	size   int      // of a list
	counts []uint32 // list after list: the count above placeBits, the place below
	filled []int
}

// newWaiting returns nil where there would be too many lists.
func newWaiting(classes int) *waiting {
	if classes > waitingClasses {
		return nil
	}
	size := waitingCounts / classes
	return &waiting{size: size, counts: make([]uint32, classes*size), filled: make([]int, classes)}
}

// take lets the first counts of a vector wait, and returns how many: it ends before the end of the list, a value that
// is no count or too great a one, and a place that has none.
func (w *waiting) take(class int64, index []int32, values []float32) int {
	list := w.counts[int(class)*w.size:][w.filled[class]:w.size]
	n := min(len(index), len(list))
	index = index[:n]
	values, list = values[:len(index)], list[:len(index)]
	taken := n
	for p, j := range index {
		value := values[p]
		count := uint32(int32(value)) //lint:checked what is out of range does not come back as the same value
		if float32(int32(count)) != value || count|uint32(j)>>placeBits*tooMany >= tooMany {
			taken = p
			break
		}
		list[p] = count<<placeBits | uint32(j)
	}
	w.filled[class] += taken
	return taken
}

// addVector adds the counts of a vector to a class; false if a value is no count. Places beyond the last are passed
// over.
func (t *tally) addVector(class int64, index []int32, values []float32) bool {
	for len(index) > 0 {
		taken := 0
		if t.waiting != nil {
			if t.waiting.filled[class]+len(index) > t.waiting.size {
				t.flush(class)
			}
			taken = t.waiting.take(class, index, values)
		}
		if taken == 0 {
			n, ok := vocabulary.Occurrences(values[0])
			if !ok {
				return false
			}
			if j := index[0]; n > 0 && j >= 0 && int(j) < t.places {
				t.add(class, j, n)
			}
			taken = 1
		}
		index, values = index[taken:], values[taken:]
	}
	return true
}

// flush adds what waits for a class. Places beyond the last are passed over.
func (t *tally) flush(class int64) {
	row := t.row(class)
	for _, w := range t.waiting.counts[int(class)*t.waiting.size:][:t.waiting.filled[class]] {
		if j := int(w & placeMask); j < len(row) {
			sum := uint32(row[j]) + w>>placeBits
			row[j] = uint16(sum)
			if sum >= cellLimit {
				t.carry(class, int32(j), cellLimit)
			}
		}
	}
	t.waiting.filled[class] = 0
}
