package sampling

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Draw is a record of a sample.
type Draw struct {
	Key float64 // what it was drawn by, such as its time in a race
	ID  dataset.Identity
	Row []float32
}

// Compare orders draws by key, ties by identity. Two records never tie.
func (d Draw) Compare(e Draw) int {
	return cmp.Or(cmp.Compare(d.Key, e.Key), d.ID.Compare(e.ID))
}

// Sample keeps the records of least key among those offered. Its memory follows the records kept.
type Sample struct {
	size int
	kept worst
}

// New returns an empty sample of up to size records, size from 1 to 2^31-1.
func New(size int) *Sample { return &Sample{size: size} }

// Len is the number of records kept.
func (s *Sample) Len() int { return len(s.kept) }

// Limit is a key from which on a record cannot enter: +Inf while there is room.
func (s *Sample) Limit() float64 {
	if len(s.kept) < s.size {
		return math.Inf(1)
	}
	return s.kept[0].Key
}

// Offer keeps a copy of a record if its key is among the least so far. Keys of +Inf and NaN are never kept.
// O(log size) where it is kept, O(1) where not.
func (s *Sample) Offer(key float64, id dataset.Identity, row []float32) {
	if key > s.Limit() || !(key < math.Inf(1)) {
		return
	}
	s.offer(Draw{Key: key, ID: id, Row: row})
}

func (s *Sample) offer(d Draw) {
	full := len(s.kept) == s.size
	if full && d.Compare(s.kept[0]) >= 0 {
		return
	}
	d.Row = slices.Clone(d.Row)
	if full {
		s.kept[0] = d
		heap.Fix(&s.kept, 0)
		return
	}
	heap.Push(&s.kept, d)
}

// Merge takes copies of what is least of another sample: a row that was read is a part of the
// rows of its whole sample, and would keep them. Rows of two lengths are a *protocol.Fault of CodeCorrupt.
func (s *Sample) Merge(other *Sample) error {
	for i, d := range other.kept {
		if i == 0 && len(s.kept) > 0 && len(s.kept[0].Row) != len(d.Row) {
			return jobs.Malformed("samples of rows of %d and %d numbers", len(s.kept[0].Row), len(d.Row))
		}
		s.offer(d)
	}
	return nil
}

// Draws returns the sample in the order of Compare.
func (s *Sample) Draws() []Draw {
	draws := slices.Clone([]Draw(s.kept))
	slices.SortFunc(draws, Draw.Compare) // total order: identities differ
	return draws
}

// worst is a heap whose top is the draw to give up next.
type worst []Draw

func (w worst) Len() int           { return len(w) }
func (w worst) Less(i, j int) bool { return w[i].Compare(w[j]) > 0 }
func (w worst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *worst) Push(x any)        { *w = append(*w, x.(Draw)) }
func (w *worst) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// Fields lists the sample as the arrays "<name>.keys" (F64), "<name>.offsets" (I64), "<name>.objects" (strings) and
// "<name>.rows" (F32, a row a draw), in the order of Compare, and "<name>.size" (I64 scalar).
func Fields(f *jobs.Fields, name string, sample **Sample) {
	var c columns
	size := 0
	if !f.Reading() {
		c, size = columnsOf((*sample).Draws()), (*sample).size
	}
	f.Int(name+".size", &size, 1, math.MaxInt32)
	jobs.List(f, name+".keys", &c.keys)
	n := len(c.keys)
	jobs.List(f, name+".offsets", &c.offsets, n)
	f.Strings(name+".objects", &c.objects)
	f.Dim(name+".rows", 1, &c.width)
	jobs.List(f, name+".rows", &c.rows, n, c.width)
	f.Require(c.objects.Len() == n && n <= size, "a sample of %d records out of %d has %d objects", n, size,
		c.objects.Len())
	if f.Reading() {
		*sample = New(size)
		f.Check(func() error { return (*sample).read(c) })
	}
}

// columns are draws as arrays.
type columns struct {
	keys    []float64
	offsets []int64
	objects jobs.Strings
	width   int // of each row
	rows    []float32
}

func columnsOf(draws []Draw) columns {
	c := columns{keys: make([]float64, len(draws)), offsets: make([]int64, len(draws))}
	if len(draws) > 0 {
		c.width = len(draws[0].Row)
	}
	c.rows = make([]float32, 0, len(draws)*c.width)
	for i, d := range draws {
		c.keys[i], c.offsets[i] = d.Key, d.ID.Offset
		c.objects.Append([]byte(d.ID.Object))
		c.rows = append(c.rows, d.Row...)
	}
	return c
}

func (s *Sample) read(c columns) error {
	for i, key := range c.keys {
		if !(key < math.Inf(1)) {
			return jobs.Malformed("a sample with a key of %v", key)
		}
		id := dataset.Identity{Object: string(c.objects.At(i)), Offset: c.offsets[i]}
		s.offer(Draw{Key: key, ID: id, Row: c.rows[i*c.width : (i+1)*c.width]})
	}
	return nil
}
