package supportvectormachine

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The modes: labels are classes or numbers, or the records are of one class.
const (
	modeClassify = "classify"
	modeRegress  = "regress"
	modeOneClass = "one_class"
)

// Bounds of params.epsilon.
const (
	defaultEpsilon = 0.1
	maxEpsilon     = 1e9
)

func (p *Params) modeParameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("mode", &p.Mode, modeClassify, modeClassify, modeRegress, modeOneClass).
			Says("Labels are classes. With regress they are numbers, which one machine predicts. With one_class the records need " +
				"no labels: the machine decides which records are like them."),
		params.Number("epsilon", &p.Epsilon, defaultEpsilon, "[0, 1e9]").
			Says("Largest error of a number that costs nothing, in mode regress."),
		p.nuParameter(),
		params.OptionalSection("novelty", &p.Novelty).
			Says("In mode one_class: how novel records are detected and judged. Without it the only threshold is rho."),
	}
}

func (p Params) regresses() bool { return p.Mode == modeRegress }

// labels is what the labels of records have to be.
func (p Params) labels() features.Option {
	if p.regresses() || p.oneClass() {
		return features.NoClasses()
	}
	return features.Classes(2)
}

// Check rejects parameters that the kernel does not have, and those of the other mode.
func (p *Params) Check() error {
	switch {
	case !p.regresses() && p.Epsilon != defaultEpsilon:
		return protocol.SpecFault("epsilon is of mode regress, not of classify")
	case p.regresses() && p.ClassWeights != nil:
		return protocol.SpecFault("class_weights are of classes; in mode regress there are none").
			WithHint("Weigh records one by one: spec.input.weight.")
	case p.regresses() && p.Costs != nil:
		return protocol.SpecFault("costs are of decisions between classes; in mode regress there are none")
	}
	if err := p.RejectBelow.Check(p.Costs, p.Mode, !p.regresses() && !p.oneClass()); err != nil {
		return err
	}
	if p.Probability {
		if err := p.RejectBelow.CheckProbability(); err != nil {
			return err
		}
	}
	if err := p.checkPrecomputed(); err != nil {
		return err
	}
	if err := p.checkOneClass(); err != nil {
		return err
	}
	if err := p.checkClusters(); err != nil {
		return err
	}
	return p.Params.Check()
}

// targetOf is the label of row i of some vectors as a number.
func targetOf(labels [][]byte, v features.Vectors, i int) (float64, error) {
	id := v.IDs[i]
	if labels == nil {
		return 0, id.Fault("the record has no label to learn from").
			WithHint("Name the column of labels in spec.input.label, or use a format that has labels.")
	}
	return evaluation.Number(id, labels[v.Records[i]])
}

// epsilonName is an array of a model of numbers, and of no other.
const epsilonName = "regression.epsilon"

// modeFields lists what a model of numbers has besides.
func (m *model) modeFields(f *jobs.Fields) {
	n := m.space.Labels.Len()
	if m.oneClassFields(f) {
		return
	}
	if m.regresses = f.Has(epsilonName, m.regresses); m.regresses {
		jobs.Scalar(f, epsilonName, &m.epsilon)
		f.Require(n == 0 && m.epsilon >= 0 && m.epsilon <= maxEpsilon, "a machine of numbers with %d classes and epsilon %v",
			n, m.epsilon)
		return
	}
	f.Require(n >= 2 && n <= maxClasses, "a support vector machine of %d classes", n)
}

// perRecord is how many coefficients a record has: one for each machine of its class; of numbers one for each side.
func (m *model) perRecord() int {
	if m.regresses {
		return 2
	}
	return m.classes().Slots()
}

// variable is the number of a record as a variable: of numbers it is two.
func (m *model) variable(ordinal int64, class int) int64 {
	if m.regresses {
		return 2*ordinal + int64(class)
	}
	return ordinal
}

// target is what f + b of a variable of a side aims at.
func (m *model) target(number, y float64) float64 {
	if m.oneClass {
		return 0
	}
	if m.regresses {
		return number - float64(y*m.epsilon)
	}
	return y
}
