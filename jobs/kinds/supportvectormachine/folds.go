package supportvectormachine

import (
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/calibration"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// folds is in how many parts the records fall by chance, so that each is decided by machines that have not seen it.
const folds = 5

// Probabilities are the parameter that asks for probabilities.
type Probabilities struct {
	Probability bool `json:"probability"`
}

func (p *Params) probabilityParameter() params.Parameter {
	return params.Flag("probability", &p.Probability, false).Checked(p.needClasses).
		Says("Predictions have the probabilities of the classes as scores. The machines are trained five times more, each " +
			"time without a fifth of the records, on which a sigmoid of each machine is fitted.").
		From("Platt 1999; Wu, Lin and Weng 2004.")
}

// needClasses refuses probabilities of numbers, and of one class.
func (p *Params) needClasses() error {
	if p.Probability && p.Mode != modeClassify {
		return protocol.SpecFault("probability is true in mode %s, which has no classes", p.Mode).
			WithHint("Leave probability out.")
	}
	return nil
}

// calibrating is what a training knows of probabilities: nil where there are none.
type calibrating struct {
	fold  int               // that is left out, from 1; 0 while no fold is
	bias  []float64         // [folds x machines]: of the machines that were trained without one
	fits  []calibration.Fit // of each machine
	ended int               // 1: the sigmoids are fitted
}

func newCalibrating(machines int) *calibrating {
	return &calibrating{fold: 1, bias: make([]float64, folds*machines), fits: make([]calibration.Fit, machines)}
}

// Fields lists the state.
func (c *calibrating) Fields(f *jobs.Fields, machines int) {
	f.Int("calibration.fold", &c.fold, 0, folds)
	f.Int("calibration.ended", &c.ended, 0, 1)
	jobs.List(f, "calibration.bias", &c.bias, folds, machines)
	list := make([]float64, 0, calibration.Numbers*machines)
	for _, fit := range c.fits {
		v := fit.List()
		list = append(list, v[:]...)
	}
	jobs.List(f, "calibration.fits", &list, machines, calibration.Numbers)
	if f.Reading() {
		c.fits = make([]calibration.Fit, machines)
		for k := range c.fits {
			c.fits[k] = calibration.FitOf([calibration.Numbers]float64(list[k*calibration.Numbers:]))
		}
	}
}

// own returns a copy.
func (c *calibrating) own() *calibrating {
	if c == nil {
		return nil
	}
	return &calibrating{fold: c.fold, bias: slices.Clone(c.bias), fits: slices.Clone(c.fits), ended: c.ended}
}

// leavesOut reports whether the machines at work are trained without a fold.
func (c *calibrating) leavesOut() bool { return c != nil && c.fold > 0 }

// cancels reports whether the float32 kernel values of records far from zero may tell nothing: those of rbf are of
// differences, and those that are given are taken as they are. Decisions on a fold are then those of stage prove.
func (m *model) cancels() bool { return m.given == nil && m.kernel.Kind != kernelops.RBF }

// foldsOf returns a function that gives a record its fold, from 1, by its identity.
func (p *trainPhase) foldsOf() func(r record) int {
	race := sampling.NewRace(p.Seed, "supportvectormachine/folds")
	return func(r record) int { return 1 + int(folds*race.Chance(r.IDs[r.i])) } //lint:checked below 1 + folds
}

// holds reports whether a record is left out of the training at work. In stage hold its decisions are kept.
func (w *walk) holds(r record) bool {
	if !w.calibrating.leavesOut() || w.foldOf(r) != w.calibrating.fold {
		return false
	}
	if w.stage == stageHold {
		copy(w.after.held[r.at:r.at+w.perRecord()], w.after.f[r.at:])
	}
	return true
}

// calibrate adds up what a record tells of the sigmoids of its machines.
func (w *walk) calibrate(r record, class int, cost float64) error {
	if cost == 0 {
		return nil
	}
	fold, weight := w.foldOf(r), r.Weight(r.i)
	for slot := range w.tally.classes.Slots() {
		k, y := w.tally.classes.At(class, slot)
		decision := w.after.held[r.at+slot] + w.calibrating.bias[(fold-1)*len(w.bias)+k]
		for i, v := range w.calibrating.fits[k].Terms(decision, y, weight) {
			if v-v != 0 {
				return beyond()
			}
			if v != 0 {
				w.fits.Add(k*calibration.Sums+i, v)
			}
		}
	}
	return nil
}

// hold ends the training without a fold, and begins the next.
func (p *trainPhase) hold(s *training, all *tally, facts *jobs.Facts) {
	c := s.calibrating
	for k, e := range all.extremes {
		c.bias[(c.fold-1)*len(s.bias)+k] = e.Bias()
	}
	facts.Add(fmt.Sprintf("svm.fold.%d.rounds", c.fold), s.rounds-1)
	p.doubtFold(s, facts)
	if c.fold++; c.fold > folds {
		c.fold = 0
	}
	s.again()
	if c.fold == 0 {
		s.stage = stageCalibrate
	}
}

// again begins another training.
func (s *training) again() {
	s.stage, s.rounds, s.whole, s.exact, s.proved = stageTrain, 0, 0, 0, math.MaxFloat64
	s.working, s.rows, s.wanted = members{}, table{width: s.space.Width}, nil
	clear(s.settled)
	clear(s.bias)
	for k := range s.violation {
		s.violation[k] = math.MaxFloat64
	}
	s.beginLocal()
}

// fit takes a step of each sigmoid that is not found yet. When all are, the machines of all records are trained.
func (p *trainPhase) fit(s *training, all *tally, facts *jobs.Facts) error {
	c := s.calibrating
	if c == nil || all.fits.Len() != calibration.Sums*len(c.fits) {
		return jobs.Malformed("a tally of %d sums of sigmoids", all.fits.Len())
	}
	done := true
	for k := range c.fits {
		if c.fits[k].Done() {
			continue
		}
		var list [calibration.Sums]float64
		for i := range list {
			list[i] = all.fits.Float(k*calibration.Sums + i)
		}
		c.fits[k] = c.fits[k].Next(list)
		done = done && c.fits[k].Done()
	}
	if !done {
		return nil
	}
	facts.Add("svm.calibration.rounds", s.rounds)
	s.sigmoids = make([]float64, 0, 2*len(c.fits))
	for _, fit := range c.fits {
		s.sigmoids = append(s.sigmoids, fit.A, fit.B)
	}
	s.doubtSigmoids(facts)
	c.ended = 1
	s.again()
	return nil
}
