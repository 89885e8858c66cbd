package naivebayes

import (
	"maps"
	"math"
	"slices"
)

// denseCells is how many cells at most a tally keeps as a plain array, of 16 MiB.
const denseCells = 1 << 22

// tally adds up counts by class and place, which is a term, or a column of vectors. Where there are few cells it
// is an array with a row for each class, else a map, whose memory is linear in the cells met.
type tally struct {
	places, classes int
	dense           []uint32
	room            int64   // what any cell of dense can take before it overflows
	spilled         []int64 // what the cells of dense held when there was no room; nil before
	met             map[int64]int64
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

// row returns the row of a class to add n to, in all; nil without the array.
func (t *tally) row(class, n int64) []uint32 {
	if t.dense == nil {
		return nil
	}
	t.reserve(n)
	return t.dense[class*int64(t.places):][:t.places]
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

// add adds n, of at most 2^24, to a cell.
func (t *tally) add(class int64, place int32, n int64) {
	at := class*int64(t.places) + int64(place)
	if t.dense != nil {
		t.reserve(n)
		t.dense[at] += uint32(n) //lint:checked at most 2^24
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
