package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
)

// moves are what the last step does to the records of one class. A record that moves in several machines is there once,
// so that its kernel values are computed once.
type moves struct {
	points kernels.Points
	terms  []move // by slot, and within one in the order of the working set
	places map[int64]int
	rows   []float32
	// ordinals are those of the places.
	ordinals []int64
}

// move is a member whose coefficient changed.
type move struct {
	slot   int
	place  int     // of its row
	change float64 // of the coefficient, times the side
}

// begin sets up what the last step changed.
func (w *walk) begin(ops *kernelops.Set) {
	w.moves = make([]moves, w.tally.classes)
	set := &w.working
	for i, k := range set.machine {
		if set.change[i] == 0 {
			continue
		}
		ordinal, machine := set.ordinal[i], int(k)
		w.changed[ordinal] = append(w.changed[ordinal], i)
		first, second := w.tally.classes.classes(machine)
		change := float64(w.tally.classes.side(machine, set.class[i]) * set.change[i])
		row := set.rows[i*set.width : (i+1)*set.width]
		if w.regresses {
			w.moves[1].add(0, ordinal/2, change, row)
			continue
		}
		w.moves[first].add(w.tally.classes.slot(first, second), ordinal, change, row)
		w.moves[second].add(w.tally.classes.slot(second, first), ordinal, change, row)
	}
	for y := range w.moves {
		m := &w.moves[y]
		m.points.Set(w.kernel, ops, matrixOf(m.rows, len(m.places), set.width))
	}
}

// add adds a member.
func (m *moves) add(slot int, ordinal int64, change float64, row []float32) {
	place, known := m.places[ordinal]
	if !known {
		if m.places == nil {
			m.places = make(map[int64]int)
		}
		place = len(m.places)
		m.places[ordinal] = place
		m.rows, m.ordinals = append(m.rows, row...), append(m.ordinals, ordinal)
	}
	m.terms = append(m.terms, move{slot, place, change})
}

// move adds up what has changed in the decisions on the records of a class. O(records * moved rows * width).
func (w *walk) move(g *group, m *moves, base int, c rows.Chunk) error {
	if len(m.terms) == 0 {
		return nil
	}
	n := len(g.records)
	w.sum, w.k = kernelops.Resize(w.sum, n), kernelops.Resize(w.k, n)
	row, err := w.rowsOfMoves(g, m)
	if err != nil {
		return err
	}
	clear(w.sum)
	for j, t := range m.terms {
		row(t.place)
		w.evaluator.Ops.AddScaled(w.sum, w.k, t.change)
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

// rowsOfMoves returns a function that sets k to the kernel values of a moved row and all records of a group.
func (w *walk) rowsOfMoves(g *group, m *moves) (func(place int), error) {
	n := len(g.records)
	if w.given != nil {
		return w.givenRowsOfMoves(g, m), nil
	}
	if w.training.exact == 1 {
		x := matrixOf(g.rows, n, w.space.Width)
		return func(place int) { w.rowsOf.Values(w.k, m.points.Rows.Row(place), x) }, nil
	}
	w.values = kernelops.Resize(w.values, len(m.places)*n)
	tile := kernelops.Matrix{Data: w.values, Rows: len(m.places), Cols: n, Stride: n}
	if err := w.evaluator.Matrix(w.kernel, tile, &m.points, &g.points); err != nil {
		return nil, err
	}
	return func(place int) {
		for i, value := range tile.Row(place) {
			w.k[i] = float64(value)
		}
	}, nil
}

// setDecision sets the decision of a record at a slot: of numbers that of both of its variables.
func (w *walk) setDecision(at, slot int, f float64) {
	if w.after.f[at+slot] = f; w.regresses {
		w.after.f[at+1] = f
	}
}
