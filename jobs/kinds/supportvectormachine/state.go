package supportvectormachine

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// The stages of the training. A round of train changes the coefficients of working sets; where their rows did not come
// with the candidates, one of fetch gathers them first. One of collect gathers the support vectors; one of prove
// computes the decisions on all records anew, in float64, and certifies them; one of close, where it is asked for,
// writes the support vectors. For probabilities there are trainings without a fold before, each of which ends in one of
// hold, that keeps the decisions on the fold; rounds of calibrate fit the sigmoids.
const (
	stageTrain = iota
	stageCollect
	stageProve
	stageClose
	stageFetch
	stageHold
	stageCalibrate
	// Of one class, before the others: a round of weigh adds up what the records weigh, and one of start chooses the
	// coefficients to begin with.
	stageWeigh
	stageStart
	// With params.clusters, before the others: a round of divide draws the sample that chooses the centers. After the
	// training of the clusters, one of join takes their coefficients over, and chooses candidates as one of train does.
	stageDivide
	stageJoin
)

// training is a model in training. In stage train it has no support vectors, only the working sets.
type training struct {
	*model
	stage       int
	costs       []float64    // of a record of each class that weighs 1
	settled     []int32      // 1 of the machines whose violation is at most tol
	working     members      // the working sets, with what the last round changed
	rows        table        // of the working sets
	wanted      []int64      // in stage fetch: the records whose rows are missing, ascending
	clip        *clip        // of a given matrix that was clipped
	seen        *seen        // of a given matrix of many columns, in phase matrix
	whole       int          // 1: no record is left out any more
	exact       int          // 1: kernel values are those of float64, as float32 ones do not lead on
	calibrating *calibrating // nil where no probabilities are asked for
	proved      float64      // the greatest violation of the last pass of stage prove
	weights     *sums.Exact  // of one class: the costs by block, in stage start
	centers     []float32    // [clusters x width], where params.clusters asked for a local start
	local       *standing    // of the machines of clusters; nil when they have ended
}

// newTraining begins the training of a model that has its space, kernel and mode.
func newTraining(m *model) *training {
	n := m.classes().Machines()
	m.bias, m.violation = make([]float64, n), make([]float64, n)
	m.begin()
	for k := range m.violation {
		m.violation[k] = math.MaxFloat64
	}
	if m.hasMargin() {
		m.margins = margin.Unbounded(n)
	}
	s := &training{model: m, settled: make([]int32, n), proved: math.MaxFloat64}
	if m.oneClass {
		s.stage = stageWeigh
	}
	return s
}

// Fields lists the state.
func (s *training) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.model).Fields(f)
	f.Int("stage", &s.stage, stageTrain, stageJoin)
	jobs.List(f, "costs", &s.costs, max(1, s.space.Labels.Len()))
	jobs.List(f, "settled", &s.settled, machinesOf(s.model).Machines())
	s.localFields(f)
	f.Int("exact", &s.exact, 0, 1)
	f.Int("whole", &s.whole, 0, 1)
	jobs.Scalar(f, "proved", &s.proved)
	if f.Has("calibration.bias", s.calibrating != nil) {
		jobs.Make(f, &s.calibrating).Fields(f, s.classes().Machines())
	}
	f.Require(s.calibrating != nil || s.stage != stageHold && s.stage != stageCalibrate, "stage %d", s.stage)
	s.matrixFields(f)
	weightFields(f, &s.weights)
	s.working.Fields(f, "working", s.machines())
	s.rows.Fields(f, "rows", s.space.Width)
	jobs.List(f, "wanted", &s.wanted)
	f.Require(ascending(s.wanted), "wanted records are not in order")
}

// own gives the state memory that no array shares.
func (s *training) own() {
	s.bias, s.violation, s.proofs = slices.Clone(s.bias), slices.Clone(s.violation), slices.Clone(s.proofs)
	s.calibrating = s.calibrating.own()
	if s.local != nil {
		s.local = &standing{slices.Clone(s.local.bias), slices.Clone(s.local.violation), slices.Clone(s.local.settled)}
	}
	s.settled, s.margins = slices.Clone(s.settled), slices.Clone(s.margins)
}

// machineNumbers bounds the rows of the working sets of a round, in values, and machineMembers their members. More
// machines take turns.
const (
	machineNumbers = 1 << 23
	machineMembers = 1 << 17
)

// travelNumbers is the most values of rows that go with the candidates of all machines. Where they may be more, only
// the rows of the working sets are gathered, in a round of their own.
const travelNumbers = 1 << 19

// fewMembers is how many members a working set may have however few records its machine has.
const fewMembers = 512

// workingSet is how many members a working set has at most: fewer than asked for where rows are very wide, and where it
// would be more than a quarter of the records of a machine, as classes have them on average.
func (s *training) workingSet(asked int) int {
	quarter := int(s.space.Records) / int(s.classes()) / 2 / s.machines().parts
	return max(4, min(asked, max(fewMembers, quarter), machineNumbers/2/max(1, s.space.Width)))
}

// active are the machines that look for working sets: the first that are not settled.
func (s *training) active(workingSet int) []int {
	most := max(1, machineMembers/s.workingSet(workingSet))
	var list []int
	for k, done := range s.standing().settled {
		if done == 0 && len(list) < most {
			list = append(list, k)
		}
	}
	return list
}

// travels reports whether rows go with candidates.
func (s *training) travels(workingSet int) bool {
	return len(s.active(workingSet))*s.workingSet(workingSet)*s.space.Width <= travelNumbers
}

// record is the ordinal of the record of a variable.
func (m *model) record(variable int64) int64 {
	if m.regresses {
		return variable / 2
	}
	return variable
}
