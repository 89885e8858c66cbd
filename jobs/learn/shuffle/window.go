package shuffle

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Numbers bounds a window: 16 MiB of float32. It decides the order, and so results.
const Numbers = 4 << 20

// Each is what a record counts beside its own numbers.
const Each = 8

// Bytes bounds the memory of a full window of copies: of values, columns and what is kept of
// each record, with what they grew out of.
const Bytes = 3 * 4 * Numbers

// Gathers estimates what a window takes of a logical block, see jobs.Gatherer; nothing unless it is shuffled. Which
// shards hold the block only the state knows, so that it is taken to be as large as a full window, or as all shards.
func Gathers(shuffled bool) func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		all := int64(0)
		for shard := 0; shuffled && shard < leaf.Plan.Shards && all < Bytes; shard++ {
			all += 3 * records(jobs.Input, shard)
		}
		return min(Bytes, all)
	}
}

// draw is what orders a record in a shuffle. It goes by the record's id, or without one by its ordinal in the data set,
// so that neither files nor shards matter.
func (w *Window[T]) draw(id dataset.Identity, ordinal int64) uint64 {
	if id.Way() == dataset.ID {
		return w.named.Uint64(id)
	}
	return w.key.Uint64(uint64(ordinal), 0)
}

// Window keeps records of some type until they are shuffled. One goroutine at a time.
type Window[T any] struct {
	key     philox.Key
	named   *dataset.Draws // of records that have ids
	numbers int
	count   int
	kept    [][]T // in parts, which are not moved when there are more
	draws   []uint64
	order   sorter
	batch   []T
	visit   func([]T) error
}

// New returns a window that hands its records to visit in their order, some at a time, valid
// during the call.
func New[T any](key philox.Key, batch int, visit func([]T) error) *Window[T] {
	return &Window[T]{key: key, named: dataset.NewDraws(key), batch: make([]T, 0, max(1, batch)), visit: visit}
}

// Add keeps a record of n numbers, given its name and its ordinal. Once the window is full, its records are visited,
// and then full is true: nothing is kept of them.
func (w *Window[T]) Add(id dataset.Identity, ordinal int64, n int, record T) (full bool, err error) {
	w.draws = append(w.draws, w.draw(id, ordinal))
	w.keep(record)
	w.numbers += n + Each
	if w.numbers < Numbers {
		return false, nil
	}
	return true, w.Flush()
}

// Flush visits what is kept in the order of the draws; records of one draw, in the order in which they came. Time
// is linear in the records.
func (w *Window[T]) Flush() error {
	for _, i := range w.order.sort(w.draws) {
		w.batch = append(w.batch, w.kept[i/keptPart][i%keptPart])
		if len(w.batch) == cap(w.batch) {
			if err := w.pass(); err != nil {
				return err
			}
		}
	}
	for i := range w.kept {
		clear(w.kept[i])
	}
	w.count, w.draws, w.numbers = 0, w.draws[:0], 0
	return w.pass()
}

// keptPart is how many records there is memory made for at a time.
const keptPart = 1 << 10

func (w *Window[T]) keep(record T) {
	if w.count/keptPart == len(w.kept) {
		w.kept = append(w.kept, make([]T, keptPart))
	}
	w.kept[w.count/keptPart][w.count%keptPart] = record
	w.count++
}

func (w *Window[T]) pass() error {
	if len(w.batch) == 0 {
		return nil
	}
	err := w.visit(w.batch)
	clear(w.batch)
	w.batch = w.batch[:0]
	return err
}

// storePart is how many elements a Store asks for at a time.
const storePart = 1 << 18

// Store holds copies of slices, which stay where they are until it is emptied. Its memory is used again. The zero
// Store is empty.
type Store[T any] struct {
	parts [][]T
	now   int // parts before it are full
}

// Copy returns a copy of x.
func (s *Store[T]) Copy(x []T) []T {
	for s.now < len(s.parts) && cap(s.parts[s.now])-len(s.parts[s.now]) < len(x) {
		s.now++
	}
	if s.now == len(s.parts) {
		s.parts = append(s.parts, make([]T, 0, max(storePart, len(x))))
	}
	part := s.parts[s.now]
	begin := len(part)
	part = append(part, x...)
	s.parts[s.now] = part
	return part[begin:len(part):len(part)]
}

// Empty forgets all copies.
func (s *Store[T]) Empty() {
	for i := range s.parts {
		s.parts[i] = s.parts[i][:0]
	}
	s.now = 0
}

// sorter sorts draws; it keeps memory between calls.
type sorter struct {
	begin  []int32 // of each bucket
	places []place
	order  []int32
}

// place is a draw and where it was.
type place struct {
	draw  uint64
	index int32
}

// sort returns the indices of draws, at most 2^31 of them, in the order of (draw, index). Draws are random, so
// that as many buckets as there are of them by their highest bits hold about one each.
func (s *sorter) sort(draws []uint64) []int32 {
	if len(draws) == 0 {
		return nil
	}
	shift := 64 - bits.Len(uint(len(draws)))
	s.begin = append(s.begin[:0], make([]int32, 1<<(64-shift)+1)...)
	for _, d := range draws {
		s.begin[d>>shift+1]++
	}
	for b := 1; b < len(s.begin); b++ {
		s.begin[b] += s.begin[b-1]
	}
	s.places, s.order = slices.Grow(s.places[:0], len(draws))[:len(draws)],
		slices.Grow(s.order[:0], len(draws))[:len(draws)]
	for i, d := range draws {
		at := &s.begin[d>>shift]
		s.places[*at] = place{d, int32(i)}
		*at++
	}
	from := int32(0)
	for _, to := range s.begin[:len(s.begin)-1] { // each begins now where the next began
		sortPlaces(s.places[from:to])
		from = to
	}
	for i, p := range s.places {
		s.order[i] = p.index
	}
	return s.order
}

func sortPlaces(p []place) {
	if len(p) < 2 {
		return
	}
	// total order: indices differ
	slices.SortFunc(p, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.draw, b.draw),
			cmp.Compare(a.index, b.index))
	})
}
