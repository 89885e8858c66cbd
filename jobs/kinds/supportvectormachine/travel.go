package supportvectormachine

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// travel returns a copy of the row of a candidate, one for all machines, where rows go with candidates and the state
// does not have it.
func (w *walk) travel(variable int64, row []float32) []float32 {
	if !w.carries {
		return nil
	}
	record := w.record(variable)
	if w.copyOf == record && w.copied != nil {
		return w.copied
	}
	if _, known := w.training.rows.find(record); known {
		return nil
	}
	w.copyOf, w.copied = record, append([]float32{}, row...)
	return w.copied
}

// pack makes the table of the rows of all candidates.
func (w *walk) pack() {
	if !w.carries {
		return
	}
	copies, records := map[int64][]float32{}, map[int64]bool{}
	for _, c := range w.chosen {
		if c == nil {
			continue
		}
		for _, list := range [][]candidate{c.Up(), c.Low()} {
			for _, m := range list {
				if m.Payload.row != nil {
					record := w.record(m.Ordinal)
					copies[record], records[record] = m.Payload.row, true
				}
			}
		}
	}
	_, ordered := tableOf(w.space.Width, records)
	for _, record := range ordered {
		w.tally.rows.add(record, copies[record])
	}
}

// rowsWith has the rows of both tallies: of candidates those that are left.
func (t *tally) rowsWith(right, both *tally) table {
	records := map[int64]bool{}
	add := func(list []int64) {
		for _, ordinal := range list {
			records[ordinal] = true
		}
	}
	if both.up.len()+both.low.len() == 0 { // of stage fetch
		add(t.rows.ordinal)
		add(right.rows.ordinal)
	}
	for _, m := range []*members{&both.up, &both.low} {
		for _, variable := range m.ordinal {
			records[variable/int64(both.variables)] = true
		}
	}
	table, _ := tableOf(t.rows.width, records, &t.rows, &right.rows)
	return table
}

// fetch gathers the rows of the block that are wanted. The coefficients stay.
func (p *trainPhase) fetch(ctx context.Context, s *training, leaf jobs.Leaf, carry jobs.Arrays) (*tally, jobs.Arrays,
	error) {
	t, reader, keep := newTally(s, p.candidates(s)), s.space.NewReader(), p.Train()
	reader.Trust() // the first round looked at all values
	wanted, dense := &table{ordinal: s.wanted}, []float32(nil)
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		var v features.Vectors
		if err == nil {
			v, err = reader.Read(part.Block, keep)
		}
		if err != nil {
			return nil, nil, err
		}
		for i := range v.Rows {
			ordinal := part.First + int64(v.Records[i])
			if _, found := wanted.find(ordinal); found {
				t.rows.add(ordinal, rows.ChunkOf(v, i, i+1, &dense).X.Row(0))
			}
		}
	}
	return t, carry, nil
}
