package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/calibration"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/voting"
	"github.com/gram-compute/gram/protocol"
)

// termSums is how many sums smo.Terms has.
const termSums = 7

// tally is what leaves found together.
type tally struct {
	classes   machines
	most      int              // candidates of each side and machine
	variables int              // of a record: 1, of numbers 2
	up, low   members          // the most violating of each side
	rows      table            // of candidates that the state does not have; those that stage fetch gathers
	extremes  []smo.Extremes   // of each machine
	terms     *sums.Exact      // [machines x termSums]
	leftOut   int              // records
	rate      float64          // the greatest |target| of a number with a coefficient
	diagonal  float64          // the greatest k(x, x) of a record with a coefficient
	rowWidth  int              // values of each support vector that is found
	found     supports         // of stages collect and start
	margins   *marginTally     // of stage prove; nil of others
	fits      *sums.Exact      // [machines x calibration.Sums], of stage calibrate; empty of others
	written   *margin.Written  // of stage close; nil of others
	weights   *sums.Exact      // of stage weigh: the costs by block
	sample    *sampling.Sample // of stage divide: what chooses the centers
}

func newTally(s *training, most int) *tally {
	t := &tally{classes: s.machines(), most: most, variables: int(s.variable(1, 0)), rows: table{width: s.space.Width},
		rowWidth: s.rowWidth(),
		extremes: make([]smo.Extremes, s.machines().Machines()), terms: sums.NewExact(s.sums())}
	for k := range t.extremes {
		t.extremes[k] = smo.NewExtremes()
	}
	if s.stage == stageDivide {
		t.sample = newSample(s.space.Width)
	}
	t.fits = sums.NewExact(0)
	if s.stage == stageCalibrate {
		t.fits = sums.NewExact(calibration.Sums * s.classes().Machines())
	}
	return t
}

// Fields lists the tally.
func (t *tally) Fields(f *jobs.Fields) {
	width, classes := t.rows.width, int(t.classes.Classes)
	f.Int("classes", &classes, 2, maxClasses)
	f.Int("most", &t.most, 0, maxWorkingSet)
	f.Int("variables", &t.variables, 1, 2)
	f.Int("width", &width, 0, protocol.MaxWidth)
	t.classes.Classes = voting.Classes(classes)
	f.Int("parts", &t.classes.parts, 1, maxClusters)
	t.up.Fields(f, "up", t.classes)
	t.low.Fields(f, "low", t.classes)
	t.rows.Fields(f, "rows", width)
	t.extremeFields(f)
	jobs.Make(f, &t.terms).Fields(f, "terms")
	f.Require(t.terms.Len() == termSums*t.classes.Machines() || t.terms.Len() == 0,
		"sums of %d terms", t.terms.Len())
	f.Int("left_out", &t.leftOut, 0, math.MaxInt)
	jobs.Scalar(f, "diagonal", &t.diagonal)
	jobs.Scalar(f, "rate", &t.rate)
	f.Int("found.rows", &t.rowWidth, 0, protocol.MaxWidth)
	t.found.Fields(f, t.rowWidth, t.classes.Classes)
	if f.Has("margin.twins", t.margins != nil) {
		jobs.Make(f, &t.margins).Fields(f, t.classes.Machines())
	}
	jobs.Make(f, &t.fits).Fields(f, "fits")
	if f.Has("support", t.written != nil) {
		jobs.Make(f, &t.written).Fields(f)
	}
	weightFields(f, &t.weights)
	if f.Has("centers.size", t.sample != nil) {
		sampling.Fields(f, "centers", &t.sample)
	}
}

func (t *tally) extremeFields(f *jobs.Fields) {
	list := make([]float64, 0, 2*len(t.extremes))
	for _, e := range t.extremes {
		list = append(list, e.Up, e.Low)
	}
	jobs.List(f, "extremes", &list, t.classes.Machines(), 2)
	if f.Reading() {
		t.extremes = make([]smo.Extremes, t.classes.Machines())
		for k := range t.extremes {
			t.extremes[k] = smo.Extremes{Up: list[2*k], Low: list[2*k+1]}
		}
	}
}

// plus joins what two neighbors found.
func (t *tally) plus(right *tally) (*tally, error) {
	if t.classes != right.classes || t.rows.width != right.rows.width || t.most != right.most ||
		t.variables != right.variables || t.rowWidth != right.rowWidth {
		return nil, jobs.Malformed("tallies of %d and %d classes", t.classes, right.classes)
	}
	both := &tally{classes: t.classes, most: t.most, variables: t.variables, rowWidth: t.rowWidth,
		extremes: make([]smo.Extremes, len(t.extremes)), rate: max(t.rate, right.rate),
		diagonal: max(t.diagonal, right.diagonal), leftOut: t.leftOut + right.leftOut}
	for k := range both.extremes {
		both.extremes[k] = t.extremes[k]
		both.extremes[k].Merge(right.extremes[k])
		chosen := smo.NewCandidates[member](t.most)
		t.candidates(k, chosen)
		right.candidates(k, chosen)
		both.keep(k, chosen)
	}
	both.rows = t.rowsWith(right, both)
	var err error
	if both.margins, err = t.margins.plus(right.margins); err != nil {
		return nil, err
	}
	if both.written, err = t.written.Plus(right.written); err != nil {
		return nil, err
	}
	if both.fits, err = t.fits.Plus(right.fits); err != nil {
		return nil, err
	}
	if both.terms, err = t.terms.Plus(right.terms); err != nil {
		return nil, err
	}
	if both.weights, err = plusWeights(t.weights, right.weights); err != nil {
		return nil, err
	}
	if both.sample, err = plusSamples(t.sample, right.sample, t.rows.width); err != nil {
		return nil, err
	}
	both.found = supports{
		ordinal: joined(t.found.ordinal, right.found.ordinal), class: joined(t.found.class, right.found.class),
		alpha: joined(t.found.alpha, right.found.alpha), rows: joined(t.found.rows, right.found.rows),
	}
	both.found.cluster, err = joinedClusters(&t.found, &right.found)
	return both, err
}

// joined is a new list of both.
func joined[T any](left, right []T) []T {
	return append(append(make([]T, 0, len(left)+len(right)), left...), right...)
}

// candidates adds those of a machine to a list.
func (t *tally) candidates(machine int, to *smo.Candidates[member]) {
	from, end := t.up.of(machine)
	for i := from; i < end; i++ {
		to.Add(t.up.at(i), true, false)
	}
	from, end = t.low.of(machine)
	for i := from; i < end; i++ {
		to.Add(t.low.at(i), false, true)
	}
}

// keep puts the candidates of a machine behind those of the machines before it.
func (t *tally) keep(machine int, from *smo.Candidates[member]) {
	for _, c := range from.Up() {
		t.up.add(machine, c)
	}
	for _, c := range from.Low() {
		t.low.add(machine, c)
	}
}
