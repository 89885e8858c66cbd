package naivebayes

import "github.com/gram-compute/gram/jobs/learn/vocabulary"

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
