package shuffle

import (
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

// Gathers estimates what a window takes of the shard of a leaf, see jobs.Gatherer; nothing unless it is shuffled. Where
// only the state knows the shard, it is taken to be as large as the leaf's own.
func Gathers(shuffled bool) func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
		if !shuffled {
			return 0
		}
		return min(Bytes, 3*records(jobs.Input, leaf.Index))
	}
}

// Window keeps records of some type until they are shuffled. One goroutine at a time.
type Window[T any] struct {
	key     philox.Key
	object  philox.Object
	name    string
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
	return &Window[T]{key: key, object: key.Object(""), batch: make([]T, 0, max(1, batch)), visit: visit}
}

// Add keeps a record of n numbers. Once the window is full, its records are visited, and then full is
// true: nothing is kept of them.
func (w *Window[T]) Add(id dataset.Identity, numbers int, record T) (full bool, err error) {
	if id.Object != w.name {
		w.name, w.object = id.Object, w.key.Object(id.Object)
	}
	w.draws = append(w.draws, w.object.Uint64(id.Offset))
	w.keep(record)
	w.numbers += numbers + Each
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
