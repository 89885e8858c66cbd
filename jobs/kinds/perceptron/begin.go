package perceptron

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// begin begins with weights of zero, and checks the parameters with the space.
func (j job) begin(_ jobs.Arrays, space *features.Space) (jobs.Next, error) {
	setup, err := j.Params.setup(space)
	if err != nil {
		return jobs.Next{}, err
	}
	if _, err := j.Params.Costs.Rule(space.Labels.List()); err != nil {
		return jobs.Next{}, err
	}
	if err := j.checkState(setup); err != nil {
		return jobs.Next{}, err
	}
	return j.first(&model{space: space, Learner: NewLearner(setup, nil)})
}

// checkState refuses weights that no state holds before there is memory made for them: a sparse width is a bare number.
func (j job) checkState(s Setup) error {
	bytes := 4 * int64(s.size()) * s.Form.copies()
	if j.MaxState == 0 || bytes <= j.MaxState {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the weights of %d classes of %d columns take %d bytes; max_state_bytes is %d", s.Classes, s.Width, bytes,
		j.MaxState).
		WithHint("Raise run.max_state_bytes, or make the vectors narrower (for text: max_features, min_df).")
}

// first begins the first epoch.
func (j job) first(m *model) (jobs.Next, error) {
	s := &state{model: m}
	var err error
	if s.room, err = j.room(s); err != nil {
		return jobs.Next{}, err
	}
	if s.votes() > int(s.room) { // of a model to go on with
		m.own()
		m.trim(int(s.room))
	}
	next := jobs.Next{Phase: j.Params.Over, State: jobs.ArraysOf(s)}
	if j.Params.Over == overChained {
		next.Trees = []int{1}
	}
	return next, nil
}

// warmPhase begins with the weights of a model; it reads no records.
type warmPhase struct{ job }

const warmName = "begin"

func (p *warmPhase) phase() jobs.Phase {
	none := func() *jobs.Undecoded { return new(jobs.Undecoded) }
	return jobs.MapReduce[jobs.Arrays, *jobs.Undecoded]{
		Name: warmName, State: jobs.Itself, Partial: none, Step: p.take,
		Map: func(context.Context, jobs.Arrays, jobs.Leaf, *kernelops.Set) (*jobs.Undecoded, error) {
			return none(), nil
		},
		Merge: func(left, _ *jobs.Undecoded) (*jobs.Undecoded, error) { return left, nil },
	}.Phase()
}

// take takes the model of spec.model, which the parameters must not contradict.
func (p *warmPhase) take(
	_ context.Context, a jobs.Arrays, _ *jobs.Undecoded, _ jobs.Round,
) (jobs.Next, error) {
	m, err := readModel(a)
	if err != nil {
		return jobs.Next{}, err
	}
	setup, err := p.Params.setup(m.space)
	if err != nil {
		return jobs.Next{}, err
	}
	switch {
	case setup.Form != m.Form || setup.Rule != m.Rule:
		return jobs.Next{}, protocol.SpecFault(
			"spec.params: the model of spec.model is %s by rule %s; this job is %s by %s", m.Form, m.Rule, setup.Form,
			setup.Rule)
	case m.Bias != setup.Bias:
		return jobs.Next{}, protocol.SpecFault(
			"spec.params: bias is %t in the model of spec.model, %t in this job", m.Bias, setup.Bias)
	}
	if field, theirs, ours := m.space.Contradicts(p.Params.Features); field != "" {
		return jobs.Next{}, protocol.SpecFault(
			"spec.params: features.%s is %v in the model of spec.model, %v in this job", field, theirs, ours)
	}
	if _, err := p.Params.Costs.Rule(m.space.Labels.List()); err != nil {
		return jobs.Next{}, err
	}
	m.Setup, m.history = setup, history{warm: true}
	return p.first(m)
}
