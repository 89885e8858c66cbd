package linearmodel

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// The modes: labels are classes or numbers.
const (
	modeClassify = "classify"
	modeRegress  = "regress"
)

// Bounds of params.epsilon.
const (
	defaultEpsilon = 0.1
	maxEpsilon     = 1e9
)

func (p *Params) modeParameter() params.Parameter {
	return params.Choice("mode", &p.Mode, modeClassify, modeClassify, modeRegress).
		Says("Labels are classes. With regress they are numbers, which one machine predicts.")
}

func (p *Params) lossParameter() params.Parameter {
	return params.Choice("loss", &p.Loss, dual.Hinge.String(), dual.Names...).
		Says("For classes, hinge and squared_hinge: what a record lacks to the margin, and its square; logistic, whose gap " +
			"assumes how exact exp and log are. For numbers, epsilon_insensitive and squared_epsilon_insensitive: what the error " +
			"exceeds epsilon by, and its square. For both, squared: the square of the error (ridge).")
}

func (p *Params) epsilonParameter() params.Parameter {
	return params.Number("epsilon", &p.Epsilon, defaultEpsilon, "[0, 1e9]").
		Says("Largest error of a number that costs nothing, for the losses epsilon_insensitive and " +
			"squared_epsilon_insensitive.")
}

func (p Params) regresses() bool { return p.Mode == modeRegress }

// loss of parameters that were checked.
func (p Params) loss() dual.Loss {
	l := dual.Loss{Form: dual.Form(max(0, slices.Index(dual.Names, p.Loss)))}
	if l.Tube() {
		l.Epsilon = p.Epsilon
	}
	return l
}

// labels is what the labels of records have to be.
func (p Params) labels() features.Option {
	if p.regresses() {
		return features.NoClasses()
	}
	return features.Classes(2)
}

// Check rejects parameters of the other mode.
func (p *Params) Check() error {
	l := p.loss()
	switch {
	case p.regresses() && !l.Regresses():
		return protocol.SpecFault("loss %s is of classes, and labels are numbers in mode regress", l).
			WithHint("Take loss squared, epsilon_insensitive or squared_epsilon_insensitive.")
	case !p.regresses() && !l.Classifies():
		return protocol.SpecFault("loss %s is of numbers, and labels are classes in mode classify", l).
			WithHint("Set mode: regress, or take loss hinge, squared_hinge, squared or logistic.")
	case !l.Tube() && p.Epsilon != defaultEpsilon:
		return protocol.SpecFault(
			"epsilon is of the losses epsilon_insensitive and squared_epsilon_insensitive, not of %s", l)
	case p.regresses() && p.ClassWeights != nil:
		return protocol.SpecFault("class_weights are of classes; in mode regress there are none").
			WithHint("Weigh records one by one: spec.input.weight.")
	case p.regresses() && p.Classes != oneVsRest:
		return protocol.SpecFault("classes is %s, and labels are numbers in mode regress", p.Classes)
	case p.regresses() && p.Costs != nil:
		return protocol.SpecFault("costs are of decisions between classes; in mode regress there are none")
	}
	err := p.RejectBelow.Check(p.Costs, p.Mode, !p.regresses())
	if err != nil || l.Form != dual.Logistic || p.Classes != oneVsRest { // pairs vote
		return err
	}
	return p.RejectBelow.CheckProbability()
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

// describeNumbers tells of a model of numbers: the columns with which the number rises and falls the most.
func (m *model) describeNumbers(p *describe.Page, few int) error {
	if _, err := p.Classes(nil, few); err != nil {
		return err
	}
	p.Line("kind", "%s, mode %s, loss %s", KindName, modeRegress, m.loss)
	if m.loss.Tube() {
		p.Line("epsilon", "%g", m.loss.Epsilon)
	}
	m.describeTraining(p)
	p.Line("bias", "%.4g", float64(m.weights[m.space.Width]*m.biasScale))
	for _, way := range []struct {
		name string
		sign float64
	}{{"rises", 1}, {"falls", -1}} {
		p.Text("\n%s with\n", way.name)
		p.Words(describe.Leading(m.space.Width, func(j int) float64 { return float64(way.sign * m.weights[j]) },
			m.space.ColumnName, p.Few(few)))
	}
	return nil
}

// What certificates are.
const (
	gapProved  = "proved"
	gapAssumed = "assumed"
)

// certainty is what the certificates are.
func (m *model) certainty() string {
	if m.loss.Assumed() {
		return gapAssumed
	}
	return gapProved
}

// assumption says what the certificates assume; nothing if they are proved.
func (m *model) assumption() string {
	if m.loss.Assumed() {
		return " It assumes that exp and log are within 4 units of the last place, which was measured."
	}
	return ""
}

// epsilonName is an array of a model of numbers, and of no other.
const epsilonName = "regression.epsilon"

// modeFields lists what a model of numbers has besides.
func (m *model) modeFields(f *jobs.Fields) {
	if m.regresses = f.Has(epsilonName, m.regresses); m.regresses {
		jobs.Scalar(f, epsilonName, &m.loss.Epsilon)
	}
	fits := m.loss.Classifies()
	if m.regresses {
		fits = m.loss.Regresses()
	}
	if m.loss.Assumed() {
		gap := gapAssumed
		f.Choice("training.gap", &gap, gapAssumed)
	}
	f.Require(fits && m.loss.Epsilon >= 0 && m.loss.Epsilon <= maxEpsilon && (m.loss.Epsilon == 0 || m.loss.Tube()),
		"a model of the loss %s with epsilon %v", m.loss.Form, m.loss.Epsilon)
}

// modeOf names the mode of a model.
func modeOf(regresses bool) string {
	if regresses {
		return modeRegress
	}
	return modeClassify
}
