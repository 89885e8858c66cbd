package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// moves are what the last step does to the records of one class. A record that moves in several machines is there once,
// so that its kernel values are computed once.
type moves struct {
	terms   []move        // by slot, and within one in the order of the working set
	places  map[int64]int // by record
	records []int         // of each place: where the table of the working sets has the row
}

// move is a member whose coefficient changed.
type move struct {
	slot   int
	place  int     // of its row
	change float64 // of the coefficient, times the side
}

// begin sets up what the last step changed.
func (w *walk) begin() {
	w.moves = make([]moves, w.tally.classes.groups())
	set := &w.working
	for i, k := range set.machine {
		if set.change[i] == 0 {
			continue
		}
		ordinal, machine := set.ordinal[i], int(k)
		w.changed[ordinal] = append(w.changed[ordinal], i)
		first, second := w.tally.classes.Pair(machine)
		change := float64(w.tally.classes.Side(machine, int(set.class[i])) * set.change[i])
		record := w.record(ordinal)
		at, _ := w.training.rows.find(record)
		cluster := machine % w.tally.classes.parts
		if w.regresses {
			w.moves[w.tally.classes.group(1, cluster)].add(0, record, at, change)
			continue
		}
		w.moves[w.tally.classes.group(first, cluster)].add(w.tally.classes.Slot(first, second), ordinal, at, change)
		w.moves[w.tally.classes.group(second, cluster)].add(w.tally.classes.Slot(second, first), ordinal, at, change)
	}
}

// gather makes points of the rows that move the decisions on the records of a class.
func (w *walk) gather(m *moves) *kernels.Points {
	width := w.space.Width
	w.moved = kernelops.Resize(w.moved, len(m.records)*width)
	for place, at := range m.records {
		copy(w.moved[place*width:(place+1)*width], w.training.rows.row(at))
	}
	w.points.Set(w.coarse, w.evaluator.Ops, matrixOf(w.moved, len(m.records), width))
	return &w.points
}

// add adds a member.
func (m *moves) add(slot int, ordinal int64, at int, change float64) {
	place, known := m.places[ordinal]
	if !known {
		if m.places == nil {
			m.places = make(map[int64]int)
		}
		place = len(m.places)
		m.places[ordinal] = place
		m.records = append(m.records, at)
	}
	m.terms = append(m.terms, move{slot, place, change})
}

// move adds up what has changed in the decisions on the records of a class. O(records * moved rows * width).
func (w *walk) move(g *group, m *moves, base int, c rows.Chunk) error {
	if len(m.terms) == 0 {
		return nil
	}
	n := len(g.records)
	w.sum = kernelops.Resize(w.sum, n)
	add, err := w.adderOfMoves(g, m)
	if err != nil {
		return err
	}
	clear(w.sum)
	for j, t := range m.terms {
		add(t)
		if j+1 < len(m.terms) && m.terms[j+1].slot == t.slot {
			continue
		}
		for i, r := range g.records {
			f := w.after.f[base+r*w.perRecord()+t.slot] + w.sum[i]
			if f-f != 0 {
				return kernels.Beyond(c.IDs[r], w.kernel.Kernel)
			}
			w.setDecision(base+r*w.perRecord(), t.slot, f)
		}
		clear(w.sum)
	}
	return nil
}

// adderOfMoves returns a function that adds to sum what a move does to all records of a group.
func (w *walk) adderOfMoves(g *group, m *moves) (func(move), error) {
	if w.given != nil {
		return w.givenAdder(g, m), nil
	}
	n, points := len(g.records), w.gather(m)
	if w.training.exact == 1 {
		x := matrixOf(g.rows, n, w.space.Width)
		w.k = kernelops.Resize(w.k, n)
		return func(t move) {
			w.rowsOf.Values(w.k, points.Rows.Row(t.place), x)
			w.evaluator.Ops.AddScaled(w.sum, w.k, t.change)
		}, nil
	}
	w.values = kernelops.Resize(w.values, len(m.places)*n)
	tile := kernelops.Matrix{Data: w.values, Rows: len(m.places), Cols: n, Stride: n}
	if err := w.evaluator.Matrix(w.coarse, tile, points, &g.points); err != nil {
		return nil, err
	}
	return func(t move) { w.evaluator.Ops.Mixed.Axpy(w.sum, tile.Row(t.place), t.change) }, nil
}

// setDecision sets the decision of a record at a slot: of numbers that of both of its variables.
func (w *walk) setDecision(at, slot int, f float64) {
	if w.after.f[at+slot] = f; w.regresses {
		w.after.f[at+1] = f
	}
}
