package linearmodel

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// ascendPhase measures all records at the incoming weights, and lets each block ascend.
type ascendPhase struct{ job }

const ascendName = "ascend"

func (p *ascendPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *tally]{
		Name: ascendName, State: jobs.Load[state], Partial: func() *tally { return new(tally) },
		Carry: p.ascend, Merge: (*tally).plus, Step: p.step, Gathers: shuffle.Gathers(true),
	}.Phase()
}

// ascend goes once over the leaf's own block: linear in its values times the machines.
func (p *ascendPhase) ascend(
	ctx context.Context, s *state, leaf jobs.Leaf, carry jobs.Arrays, _ *kernelops.Set,
) (*tally, jobs.Arrays, error) {
	a := &ascent{state: s, local: append([]float64(nil), s.now...), moves: make([]float64, len(s.now)),
		standings: make([]dual.Standing, s.machines()), courses: make([]dual.Course, s.machines())}
	for k := range a.courses {
		a.courses[k] = dual.NewCourse()
	}
	if len(carry) > 0 {
		if _, err := jobs.Read(carry, &a.before); err != nil {
			return nil, nil, err
		}
	}
	window := shuffle.New(philox.New(p.Seed, fmt.Sprintf("linearmodel/records/%d", s.rounds)), 1, a.visit)
	reader, train := s.space.NewReader(), p.Train()
	if s.rounds > 0 {
		reader.Trust() // the first round looked at all values
	}
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		if err == nil {
			err = ctx.Err()
		}
		var v features.Vectors
		if err == nil {
			v, err = reader.Read(part.Block, train)
		}
		if err == nil {
			err = a.read(window, v, part.First)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := window.Flush(); err != nil {
		return nil, nil, err
	}
	t, err := a.tally()
	return t, jobs.ArraysOf(&a.after), err
}

// record is a training record that waits for its turn.
type record struct {
	dual.Row
	number int // in its block
	class  int
	cost   float64
	square float64
}

// ascent is how far a leaf is.
type ascent struct {
	*state
	before, after coefficients
	local, moves  []float64 // weights of the leaf's own, and sums of change y x
	standings     []dual.Standing
	courses       []dual.Course
	number        int // of records so far
	values        shuffle.Store[float32]
	index         shuffle.Store[int32]
}

// read measures vectors and lets them wait for their turn.
func (a *ascent) read(window *shuffle.Window[record], v features.Vectors, first int64) error {
	for i := range v.Rows {
		if v.Class[i] < 0 {
			return features.Unseen(v.IDs[i])
		}
		r := a.recordOf(v, i)
		if err := a.measure(&r); err != nil {
			return err
		}
		if !v.Lasting {
			r.Values = a.values.Copy(r.Values)
			if r.Index != nil {
				r.Index = a.index.Copy(r.Index)
			}
		}
		full, err := window.Add(v.IDs[i], first+int64(v.Records[i]), len(r.Values), r)
		if err != nil {
			return err
		}
		if full {
			a.values.Empty()
			a.index.Empty()
		}
	}
	return nil
}

func (a *ascent) recordOf(v features.Vectors, i int) record {
	r := record{Row: dual.Row{Bias: a.biasScale}, number: a.number, class: int(v.Class[i]), cost: a.costs[v.Class[i]]}
	if v.Weights != nil {
		r.cost = float64(r.cost * float64(v.Weights[i]))
	}
	if v.Sparse.Width > 0 {
		r.Index, r.Values = v.Sparse.Row(i)
	} else {
		r.Values = v.Dense.Row(i)
	}
	r.square = r.Square()
	a.number++
	return r
}

// measure moves the coefficients of a record along the last course, and adds up where they stand.
func (a *ascent) measure(r *record) error {
	at := r.number * a.machines()
	for k := range a.standings {
		alpha := 0.0
		if len(a.before.alpha) > 0 {
			if at+k >= len(a.before.alpha) {
				return jobs.Malformed("%d coefficients are carried, fewer than the block has", len(a.before.alpha))
			}
			alpha = a.before.alpha[at+k]
			if r.cost > 0 {
				alpha = a.loss.Moved(alpha, a.before.change[at+k], a.step[k], r.cost)
			}
		}
		a.after.alpha, a.after.change = append(a.after.alpha, alpha), append(a.after.change, 0)
		if r.cost > 0 {
			margin := float64(a.side(k, r.class) * r.Dot(a.row(a.now, k)))
			a.standings[k].Add(a.loss, alpha, margin, r.square, r.cost, r.Terms())
		}
	}
	return nil
}

// visit ascends along the coefficients of the records whose turn it is.
func (a *ascent) visit(batch []record) error {
	for _, r := range batch {
		if r.cost == 0 {
			continue
		}
		for k, done := range a.done {
			if done == 1 {
				continue
			}
			at, y, local := r.number*a.machines()+k, a.side(k, r.class), a.row(a.local, k)
			alpha := a.after.alpha[at]
			change := a.loss.Ascend(alpha, float64(y*r.Dot(local)), r.square, r.cost) - alpha
			if change == 0 {
				continue
			}
			a.after.change[at] = change
			r.AddTo(local, float64(change*y))
			r.AddTo(a.row(a.moves, k), float64(change*y))
			a.courses[k].Add(a.loss, alpha, change, r.square, r.cost)
		}
	}
	return nil
}

// tally is what the leaf found.
func (a *ascent) tally() (*tally, error) {
	if n := len(a.before.alpha); n > 0 && n != len(a.after.alpha) {
		return nil, jobs.Malformed("%d coefficients are carried for a block of %d", n, len(a.after.alpha))
	}
	t := &tally{moves: sums.NewExact(len(a.moves)), sums: sums.NewExact(tallySums * a.machines()),
		room: make([]float64, a.machines()), violation: make([]float64, a.machines())}
	for j, v := range a.moves {
		if v-v != 0 {
			return nil, beyond()
		}
		t.moves.Add(j, v)
	}
	for k, s := range a.standings {
		c := a.courses[k]
		for i, v := range [tallySums]float64{s.Loss, s.Slope, s.Bend, s.Linear, s.Quadratic, s.Reach,
			c.Gain, c.Cross, c.Bend, c.Travel} {
			if v-v != 0 {
				return nil, beyond()
			}
			t.sums.Add(k*tallySums+i, v)
		}
		t.room[k], t.violation[k] = c.Room, s.Violation
		t.records, t.terms = max(t.records, s.Records), max(t.terms, s.Terms)
	}
	return t, nil
}

// beyond is the fault of values so large that what is computed of them is no number any more.
func beyond() error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the values are too large: sums of their products are beyond float64").
		WithHint("Scale them (params.features.scale: standard), or lower params.C.")
}
