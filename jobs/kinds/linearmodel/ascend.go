package linearmodel

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// ascendPhase measures all records at the incoming weights, and lets each block ascend.
type ascendPhase struct{ job }

const ascendName = "ascend"

func (p *ascendPhase) phase() jobs.Phase {
	return jobs.MapReduce[*ascendState, *tally]{
		Name: ascendName, State: jobs.Load[ascendState], Partial: func() *tally { return new(tally) },
		Carry: p.ascend, Merge: (*tally).plus, Step: p.step, Gathers: p.gathers,
		Rounds: p.mostRounds(p.Params.Solver == ascendName),
	}.Phase()
}

// gathers is the memory of a window, and of support vectors.
func (p *ascendPhase) gathers(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
	return shuffle.Gathers(true)(leaf, records) + p.gathersSupport()
}

// ascend goes once over the leaf's own block: linear in its values times the machines.
func (p *ascendPhase) ascend(
	ctx context.Context, s *ascendState, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (*tally, jobs.Arrays, error) {
	a := newAscent(s, ops)
	if len(carry) > 0 {
		if _, err := jobs.Read(carry, &a.before); err != nil {
			return nil, nil, err
		}
	}
	if s.ended == 1 {
		w, err := p.support(ctx, &s.training, leaf, a.before.alpha, ops)
		return &tally{measures: measuresOfLast(w), moves: sums.NewExact(0), courses: sums.NewExact(0)}, carry, err
	}
	a.after, a.ahead = newCoefficients(len(a.before.alpha)), make([]float64, 0, len(a.before.alpha))
	a.window = shuffle.New(philox.New(p.Seed, fmt.Sprintf("linearmodel/records/%d", s.rounds)), visited,
		a.visit)
	read := a.read
	if s.given == 1 {
		read = a.propose
	}
	err := p.read(ctx, &s.training, leaf, read)
	if err == nil {
		err = a.window.Flush()
	}
	if err == nil {
		err = a.before.alpha.checkLen(len(a.after.alpha))
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := a.tally()
	return t, jobs.ArraysOf(&a.after), err
}

// coefficients are a leaf's carry: of each training record of its block, one of each for each of its machines.
type coefficients struct {
	alpha, change carried // [records, slots]
}

// Fields lists the coefficients.
func (c *coefficients) Fields(f *jobs.Fields) {
	jobs.List(f, "alpha", (*[]float64)(&c.alpha))
	jobs.List(f, "change", (*[]float64)(&c.change), len(c.alpha))
}

// newCoefficients has room for n of each.
func newCoefficients(n int) coefficients {
	return coefficients{alpha: make(carried, 0, n), change: make(carried, 0, n)}
}

// ascent is how far a leaf is.
type ascent struct {
	*ascendState
	ops           *kernelops.Set
	before, after coefficients
	local, moves  []float64 // weights of the leaf's own, and sums of change y x
	standings     []dual.Standing
	courses       []dual.Course
	window        *shuffle.Window[record]
	number        int       // of records so far
	ahead         []float64 // coefficients of the leaf's own, as after.alpha
	values        shuffle.Store[float32]
	index         shuffle.Store[int32]
	rests         []bool // as after.alpha: of coefficients that are not visited in this round
	resting       int    // how many
}

// newAscent begins at the weights that came in, and beyond them in the direction of the last step.
func newAscent(s *ascendState, ops *kernelops.Set) *ascent {
	a := &ascent{ascendState: s, ops: ops, local: make([]float64, len(s.now)), moves: make([]float64, len(s.now)),
		standings: make([]dual.Standing, s.machines()), courses: make([]dual.Course, s.machines())}
	for k := range a.courses {
		a.courses[k] = dual.NewCourse()
		local, now, last := a.row(a.local, k), s.row(s.now, k), s.row(s.last, k)
		for j := range local {
			local[j] = now[j] + float64(s.beyond[k]*last[j])
		}
	}
	return a
}

// read measures vectors and lets them wait for their turn.
func (a *ascent) read(v features.Vectors, part jobs.Part) error {
	for i := range v.Rows {
		r, err := a.recordOf(v, part.Labels, i, a.number, a.ops)
		resting := a.resting
		if err == nil {
			err = a.measure(&r)
		}
		if err == nil && a.resting < resting+a.slots() {
			err = a.wait(r, v.IDs[i], part.First+int64(v.Records[i]), v.Lasting)
		}
		if err != nil {
			return err
		}
		a.number++
	}
	return nil
}

// wait lets a record wait for its turn.
func (a *ascent) wait(r record, id dataset.Identity, ordinal int64, lasting bool) error {
	if !lasting {
		r.Values = a.values.Copy(r.Values)
		if r.Index != nil {
			r.Index = a.index.Copy(r.Index)
		}
	}
	full, err := a.window.Add(id, ordinal, len(r.Values), r)
	if full {
		a.values.Empty()
		a.index.Empty()
	}
	return err
}

// measure moves the coefficients of a record along the last course, and adds up where they stand.
func (a *ascent) measure(r *record) error {
	for slot := range a.slots() {
		k, side := a.at(r.class, slot)
		before, err := a.before.alpha.at(r.number*a.slots() + slot)
		if err != nil {
			return err
		}
		alpha := before
		if len(a.before.change) > 0 && r.cost > 0 {
			alpha = a.loss.Moved(before, a.before.change[r.number*a.slots()+slot], a.steps[k], r.cost)
		}
		a.after.alpha, a.after.change = append(a.after.alpha, alpha), append(a.after.change, 0)
		a.ahead = append(a.ahead, alpha+float64(a.beyond[k]*(alpha-before)))
		rests := r.cost == 0
		if r.cost > 0 {
			short := r.target - float64(side*r.Dot(a.row(a.now, k)))
			rests = alpha == before && a.loss.Rests(alpha, short, r.cost, restSlack)
			a.standings[k].Add(a.loss, r.target, alpha, short, r.square, r.cost, r.Terms())
		}
		if a.rests = append(a.rests, rests); rests {
			a.resting++
		}
	}
	return nil
}

// propose measures vectors at weights that no coefficients say, with coefficients of 0, and proposes those that the
// weights ask for: the best ones while they are held near 0, whose objective is smooth. (See dual.Loss.Near.)
func (a *ascent) propose(v features.Vectors, part jobs.Part) error {
	for i := range v.Rows {
		r, err := a.recordOf(v, part.Labels, i, a.number, a.ops)
		if err != nil {
			return err
		}
		for slot := range a.slots() {
			k, side := a.at(r.class, slot)
			change := 0.0
			if r.cost > 0 {
				short := r.target - float64(side*r.Dot(a.row(a.now, k)))
				a.standings[k].Add(a.loss, r.target, 0, short, r.square, r.cost, r.Terms())
				if change, _, _ = a.loss.Near(0, short, r.cost, dual.WarmPull); change != 0 {
					r.AddTo(a.row(a.moves, k), float64(change*side))
					a.courses[k].Add(a.loss, r.target, 0, change, r.square, r.cost)
				}
			}
			a.after.alpha, a.after.change = append(a.after.alpha, 0), append(a.after.change, change)
		}
		a.number++
	}
	return nil
}

// restSlack is by how much the score of a record is beyond its margin, or short of it, whose coefficient is at a bound
// and not visited: found by trial on sparse data, where 0 takes more rounds and 0.3 more visits.
const restSlack = 0.1

// visited is how many records are visited at once.
const visited = 64

// visit ascends along the coefficients of the records whose turn it is, and adds up how they changed.
func (a *ascent) visit(batch []record) error {
	for k, done := range a.done {
		if done == 1 {
			continue
		}
		for i := range batch {
			a.ascend(&batch[i], k, batch[min(i+1, len(batch)-1)].Row)
		}
	}
	return nil
}

// ascend takes a coefficient to the best, if each of the other blocks moves the weights by as much as this one, and
// adds up how it changed. (Ma, Smith, Jaggi, Jordan, Richtarik and Takac, "Adding vs. averaging in distributed
// primal-dual optimization", ICML 2015, (9), with sigma' the number of blocks.) The row soon is that of the next
// record.
func (a *ascent) ascend(r *record, k int, soon dual.Row) {
	y := a.side(k, r.class)
	if r.cost == 0 || y == 0 {
		return
	}
	at, local := r.number*a.slots()+a.slot(k, r.class), a.row(a.local, k)
	if a.rests[at] {
		return
	}
	alpha, from, blocks := a.after.alpha[at], a.ahead[at], float64(a.blocks)
	best := a.loss.Ascend(from, r.target-float64(y*r.DotBefore(local, soon)), float64(blocks*r.square), r.cost)
	moved, change, moves := float64(blocks*(best-from)), best-alpha, a.row(a.moves, k)
	switch {
	case moved != 0 && change != 0:
		r.AddToBoth(local, moves, float64(moved*y), float64(change*y))
	case moved != 0:
		r.AddTo(local, float64(moved*y))
	case change != 0:
		r.AddTo(moves, float64(change*y))
	}
	if change != 0 {
		a.after.change[at] = change
		a.courses[k].Add(a.loss, r.target, alpha, change, r.square, r.cost)
	}
}

// tally is what the leaf found.
func (a *ascent) tally() (*tally, error) {
	m, err := measuresOf(a.standings)
	t := &tally{measures: m, moves: sums.NewExact(len(a.moves)), courses: sums.NewExact(courseSums * len(a.courses)),
		room: make([]float64, len(a.courses))}
	if err == nil {
		err = addAll(t.moves, 0, a.moves...)
	}
	for k, c := range a.courses {
		if err == nil {
			err = addAll(t.courses, k*courseSums, append([]float64{c.Gain, c.Cross, c.Bend, c.Travel}, c.Grid[:]...)...)
		}
		t.room[k] = c.Room
	}
	return t, err
}
