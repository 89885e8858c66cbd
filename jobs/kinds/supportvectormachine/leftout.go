package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/smo"
)

// Shrinking (Joachims, "Making large-scale SVM learning practical", 1999; Chang and Lin, LIBSVM, section 5.1): a record
// that was idle for some rounds is left out. Its decisions are not brought up to date and it is not a candidate, until
// stage prove computes the decisions on all records anew. After that no record is left out any more, so what is proved
// is about all of them. Whether a record is idle follows from its own carry and the state, so blocks do not matter.

// idleRounds is the number of rounds in turn that a record is idle before it is left out.
const idleRounds = 3

// idleMargin is how far the values of an idle record are beyond the extremes, as a part of the machine's violation.
const idleMargin = 0.25

// shrinks reports whether a round leaves records out. The trainings without a fold do not, as their decisions need not
// come to stage prove; nor does one class; nor do machines of clusters, whose rounds are short.
func (s *training) shrinks() bool {
	return (s.stage == stageTrain || s.stage == stageCollect) && s.whole == 0 && !s.oneClass && !s.apart() &&
		!s.calibrating.leavesOut()
}

// carryIdle takes over the carried counts of idle rounds of n records, 0 if nothing was carried.
func (w *walk) carryIdle(first, n int) error {
	switch {
	case !w.shrinks:
		return nil
	case w.before.idle == nil:
		w.after.idle = append(w.after.idle, make([]uint8, n)...)
		return nil
	case len(w.before.idle) != len(w.before.alpha)/w.perRecord():
		return jobs.Malformed("%d records may be idle, and %d coefficients are carried", len(w.before.idle),
			len(w.before.alpha))
	}
	for i, rounds := range w.before.idle[first : first+n] {
		if rounds > idleRounds {
			return jobs.Malformed("record %d of a block is idle for %d rounds, of at most %d", first+i, rounds,
				idleRounds)
		}
		w.after.idle = append(w.after.idle, rounds)
	}
	return nil
}

// leftOut reports whether a record of the block is left out.
func (w *walk) leftOut(nth int) bool { return w.shrinks && w.after.idle[nth] == idleRounds }

// noteIdle counts the rounds in turn that a record is idle. A record whose row is in the working sets is not idle, so
// the coefficients of a record that is left out do not change.
func (w *walk) noteIdle(r record, class int, cost float64) {
	if !w.shrinks || w.stage != stageTrain || w.leftOut(r.nth) {
		return
	}
	w.after.idle[r.nth]++
	_, works := w.training.rows.find(r.ordinal)
	for i := 0; i < w.perRecord() && !works; i++ {
		machine, y := 0, w.tally.classes.Side(0, i)
		if !w.regresses {
			machine, y = w.tally.classes.At(class, i)
		}
		works = !w.idles(machine, y, w.after.alpha[r.at+i], cost, w.target(r.number, y)-w.after.f[r.at+i])
	}
	if works {
		w.after.idle[r.nth] = 0
	}
}

// idles reports whether a coefficient is at a bound, and its value so far beyond the extremes of the machine that it
// stays there.
func (w *walk) idles(machine int, y, alpha, cost, value float64) bool {
	violation, bias := w.violation[machine], w.bias[machine]
	up, low := smo.Sides(alpha, y, cost)
	if up && low || violation == math.MaxFloat64 {
		return false
	}
	far := float64(violation * (0.5 + idleMargin))
	if up {
		return value < bias-far
	}
	return value > bias+far
}

// trainOn goes on with the machines whose violation a pass of stage prove found above tol. If records were left out
// before the pass, its violation says nothing about the errors of float32 values, so the next pass is not compared with
// it.
func (p *trainPhase) trainOn(s *training, worst float64, stuck bool) {
	if s.stage = stageTrain; s.whole == 1 {
		s.proved = worst
	}
	if s.whole = 1; stuck {
		s.exact = 1
	}
	for k, v := range s.violation {
		if v > p.Params.Tol {
			s.settled[k] = 0
		}
	}
}
