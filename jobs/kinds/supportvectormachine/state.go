package supportvectormachine

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// The stages of the training. A round of train changes the coefficients of working sets; one of collect gathers the
// support vectors; one of prove computes the decisions on all records anew, in float64, and certifies them.
const (
	stageTrain = iota
	stageCollect
	stageProve
	// Of one class, before the others: a round of weigh adds up what the records weigh, and one of start chooses the
	// coefficients to begin with.
	stageWeigh
	stageStart
)

// training is a model in training. In stage train it has no support vectors, only the working sets.
type training struct {
	*model
	stage   int
	costs   []float64   // of a record of each class that weighs 1
	settled []int32     // 1 of the machines whose violation is at most tol
	working members     // the working sets, with what the last round changed
	clip    *clip       // of a given matrix that was clipped
	seen    *seen       // of a given matrix of many columns, in phase matrix
	exact   int         // 1: kernel values are those of float64, as float32 ones do not lead on
	proved  float64     // the greatest violation of the last pass of stage prove
	weights *sums.Exact // of one class: the costs by block, in stage start
}

// newTraining begins the training of a model that has its space, kernel and mode.
func newTraining(m *model) *training {
	n := m.classes().machines()
	m.bias, m.violation = make([]float64, n), make([]float64, n)
	m.begin()
	for k := range m.violation {
		m.violation[k] = math.MaxFloat64
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
	f.Int("stage", &s.stage, stageTrain, stageStart)
	jobs.List(f, "costs", &s.costs, max(1, s.space.Labels.Len()))
	jobs.List(f, "settled", &s.settled, s.classes().machines())
	f.Int("exact", &s.exact, 0, 1)
	jobs.Scalar(f, "proved", &s.proved)
	s.matrixFields(f)
	weightFields(f, &s.weights)
	s.working.Fields(f, "working", s.space.Width, s.classes())
}

// own gives the state memory that no array shares.
func (s *training) own() {
	s.bias, s.violation, s.proofs = slices.Clone(s.bias), slices.Clone(s.violation), slices.Clone(s.proofs)
	s.settled = slices.Clone(s.settled)
}

// machineNumbers bounds the rows of the working sets of a round, in values. More machines take turns.
const machineNumbers = 1 << 22

// workingSet is how many members a working set has at most: fewer than asked for, where rows are very wide.
func (s *training) workingSet(asked int) int {
	return max(4, min(asked, machineNumbers/max(1, s.space.Width)))
}

// active are the machines whose working sets a round changes: the first that are not settled, as many as their rows
// may take.
func (s *training) active(workingSet int) []int {
	most := max(1, machineNumbers/max(1, s.workingSet(workingSet)*s.space.Width))
	var list []int
	for k, done := range s.settled {
		if done == 0 && len(list) < most {
			list = append(list, k)
		}
	}
	return list
}
