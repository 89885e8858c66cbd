package kmeans

import (
	"errors"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// memory is what a worker remembers of a leaf from one round of Lloyd's to the next: where its records were, their
// sums, and how far they are from other centers. No result depends on it. See docs/adr/0034-bounded-rounds.md.
type memory struct {
	ops     *kernelops.Set
	restart int
	k       int // centers
	index   []int32
	movers  int         // records that went to another center in the last round
	rows    *sums.Adder // of the records by index

	rounded *kernelops.ByteRows // the records; nil where there are none
	bounds  *kernelops.Bounds   // nil while they would spare little
	rests   int                 // rounds to go without
}

// errForgotten says that a leaf is not the one that was remembered.
var errForgotten = errors.New("kmeans: another leaf is remembered")

// remembered takes what is known of a leaf, or an empty memory.
func remembered(leaf jobs.Leaf, s *state, ops *kernelops.Set) *memory {
	k := len(s.centers) / s.space.Width
	if leaf.Memo != nil {
		m, ok := leaf.Memo.Take().(*memory)
		switch {
		case !ok || m.ops == nil || m.ops.Name != ops.Name:
		case m.restart == s.restart && m.k == k:
			return m
		default:
			return &memory{ops: ops, restart: s.restart, k: k, rounded: m.rounded}
		}
	}
	return &memory{ops: ops, restart: s.restart, k: k}
}

// Records are kept in 8 bits for at least this many columns, centers, and products of both.
const (
	leastByteWidth    = 8
	leastByteCenters  = 6
	leastByteProducts = 512
)

// round rounds the records of a leaf to bytes, of which the first are those of a chunk, if rounds are faster then.
func (m *memory) round(c chunk, origin []float32) {
	if m.rounded == nil && c.X.Cols >= leastByteWidth && m.k >= leastByteCenters &&
		m.k*c.X.Cols >= leastByteProducts {
		m.rounded = kernelops.NewByteRows(m.ops, c.X, origin)
	}
}

// Bounds are begun after a round in which at most these shares of the records moved. mostMovedFew is for few centers:
// nearly all that bounds spare is spared when the centers stand still. mostMovedBytes is for records in 8 bits: these
// make a round so cheap that bounds repay their cost only later.
const (
	mostMoved      = 0.5
	mostMovedBytes = 0.03
	mostMovedFew   = 0.002
	fewCenters     = 48
)

// restRounds is for how many rounds bounds are left off that spared nothing.
const restRounds = 4

// begin makes or moves the bounds for a round with those centers.
func (m *memory) begin(packed *kernelops.Centers) {
	if m.bounds != nil {
		if !m.bounds.Move(packed) {
			m.bounds = nil
		}
		return
	}
	most := mostMoved
	switch {
	case m.k <= fewCenters:
		most = mostMovedFew
	case m.rounded != nil:
		most = mostMovedBytes
	}
	if m.rests > 0 || len(m.index) == 0 || float64(m.movers) > float64(most*float64(len(m.index))) {
		m.rests = max(m.rests-1, 0)
		return
	}
	m.bounds = kernelops.NewBounds(m.ops, packed, len(m.index), m.rounded)
}

// end decides on the bounds of the next round. Those that were begun in this one have said nothing yet.
func (m *memory) end(begun bool) {
	if m.bounds != nil && !begun && !m.bounds.Spares() {
		m.bounds, m.rests = nil, restRounds
	}
}

// bytes is about what the memory takes.
func (m *memory) bytes(width int) int64 {
	n := 4*int64(len(m.index)) + 48*int64(m.k)*int64(width) + m.rounded.Bytes()
	if m.bounds != nil {
		n += m.bounds.Bytes()
	}
	return n
}

// recall assigns the records of a leaf with what is remembered of it, and remembers. One goroutine.
type recall struct {
	*memory
	near   *assigner
	summer *summer
	origin []float32
	keeps  bool // the memory is kept
	again  bool // index has the records of an earlier round
	whole  bool // all records are added up, not those alone that moved
	at     int  // records visited
	moves  int  // those that moved

	moved, from []int32   // of the chunk, and the centers that they had
	rows        []float32 // records to be moved, from one center to another
	left, to    []int32
	weights     []float32 // nil where each is 1
}

func newRecall(m *memory, near *assigner, origin []float32, keeps bool) *recall {
	r := &recall{memory: m, near: near, origin: origin, keeps: keeps, again: len(m.index) > 0}
	r.whole = !r.again || 2*m.movers > len(m.index)
	if r.whole {
		m.rows = sums.NewAdder(m.k, len(origin), m.ops)
	}
	r.summer = &summer{rows: m.rows, cost: sums.NewExact(1)}
	return r
}

// add assigns the records of a chunk, and adds them up.
func (r *recall) add(c chunk) error {
	from, to := r.at, r.at+c.X.Rows
	if r.at = to; r.again && to > len(r.index) {
		return errForgotten
	}
	if r.rounded == nil && r.keeps && from == 0 && r.near.tree == nil {
		r.round(c, r.origin)
	}
	if !r.again {
		r.index = append(r.index, slices.Repeat([]int32{-1}, c.X.Rows)...)
	}
	if err := r.assign(c, r.index[from:to], from); err != nil {
		return err
	}
	if r.whole {
		r.summer.add(r.near, c)
		return nil
	}
	r.summer.addCosts(r.near, c)
	r.move(c)
	return nil
}

// assign assigns the records, lists those that moved, and remembers where to.
func (r *recall) assign(c chunk, index []int32, first int) error {
	near := r.near
	near.index, near.sqDist = kernelops.Resize(near.index, c.X.Rows), kernelops.Resize(near.sqDist, c.X.Rows)
	copy(near.index, index)
	switch {
	case r.bounds != nil:
		r.moved, r.from = r.bounds.Nearest(near.index, near.sqDist, c.X, first, &near.ws)
	case near.packed != nil && r.rounded != nil:
		r.rounded.Nearest(near.index, near.sqDist, c.X, near.packed, first, &near.ws)
	default:
		if err := near.assign(c); err != nil {
			return err
		}
	}
	if err := near.checkFound(c); err != nil {
		return err
	}
	if r.bounds == nil {
		r.moved, r.from = r.moved[:0], r.from[:0]
		for i, was := range index {
			if near.index[i] != was {
				r.moved, r.from = append(r.moved, int32(i)), append(r.from, was)
			}
		}
	}
	r.moves += len(r.moved)
	copy(index, near.index)
	return nil
}

// move lists the records that moved, to take them from one sum to another when they are many.
func (r *recall) move(c chunk) {
	for at, i := range r.moved {
		r.rows = append(r.rows, c.X.Row(int(i))...)
		r.left, r.to = append(r.left, r.from[at]), append(r.to, r.near.index[i])
		if c.Weights != nil {
			r.weights = append(r.weights, c.Weights[i])
		}
	}
	if len(r.rows) >= chunkFloats {
		r.moveAll()
	}
}

// moveAll moves the records listed.
func (r *recall) moveAll() {
	if len(r.to) == 0 {
		return
	}
	x := kernelops.Matrix{Data: r.rows, Rows: len(r.to), Cols: len(r.origin), Stride: len(r.origin)}
	r.memory.rows.Move(x, r.left, r.to, r.weights)
	r.rows, r.left, r.to = r.rows[:0], r.left[:0], r.to[:0]
	if r.weights != nil {
		r.weights = r.weights[:0]
	}
}

// end returns the totals, which share no memory with what is remembered.
func (r *recall) end(fingerprint []uint64) (*totals, error) {
	if r.at != len(r.index) {
		return nil, errForgotten
	}
	r.movers = r.moves
	r.moveAll()
	return &totals{*r.memory.rows.Rows().Clone(), r.summer.cost, fingerprint}, nil
}
