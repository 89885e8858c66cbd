package perceptron

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// state is a model in training and how far it is. In arrays it is a model's, and those of
// progress.
type state struct {
	*model
	progress
	room   int64   // how many vectors may vote beside the last
	extras []extra // of distinct, by record
}

// progress counts epochs from 0, and in an epoch the blocks done, the mistakes and the updates.
type progress struct{ epoch, position, mistakes, updates int64 }

// extra is the weight of a record's own feature.
type extra struct {
	record int64 // its ordinal
	weight float32
}

// Fields lists the state. Every weight of a model is looked at where one is read; those of states, which a job's own
// steps wrote, are not.
func (s *state) Fields(f *jobs.Fields) {
	jobs.Make(f, &s.model).Fields(f)
	jobs.Tuple(f, "at", &s.epoch, &s.position, &s.progress.mistakes, &s.progress.updates)
	jobs.Scalar(f, "room", &s.room)
	f.Require(s.room >= 1 && s.room <= int64(s.MaxVectors),
		"a state with room for %d vectors, max_vectors %d", s.room, s.MaxVectors)
	extraFields(f, &s.extras)
}

func extraFields(f *jobs.Fields, extras *[]extra) {
	n := len(*extras)
	records, weights := make([]int64, n), make([]float32, n)
	for i, e := range *extras {
		records[i], weights[i] = e.record, e.weight
	}
	jobs.List(f, "distinct.record", &records)
	jobs.List(f, "distinct.weight", &weights, len(records))
	if !f.Reading() {
		return
	}
	*extras = make([]extra, len(records))
	for i := range *extras {
		(*extras)[i] = extra{records[i], weights[i]}
	}
}

// extrasOf returns the weights of the own features of records [from, to), and where they stand in extras.
func (s *state) extrasOf(from, to int64) (weights map[int64]float32, begin, end int) {
	find := func(e extra, record int64) int { return cmp.Compare(e.record, record) }
	begin, _ = slices.BinarySearchFunc(s.extras, from, find)
	end, _ = slices.BinarySearchFunc(s.extras, to, find)
	weights = make(map[int64]float32, end-begin)
	for _, e := range s.extras[begin:end] {
		weights[e.record] = e.weight
	}
	return weights, begin, end
}

// blockAt is the block that comes at the state's position of its epoch.
func (j job) blockAt(s *state, of int) (int, error) {
	return blocks.At(philox.New(j.Seed, "perceptron/blocks"), s.epoch, s.position, of, j.Params.Shuffle)
}

// extent is the ordinals of a block: from the first up to, not including, to.
func (j job) extent(block int) (from, to int64) {
	each := int64(j.Params.BlockRecords)
	return int64(block) * each, int64(block+1) * each
}

// epochTrees are the trees of a round of an epoch: one leaf for the next block, or one for each block.
func (j job) epochTrees(plan jobs.Plan) []int {
	if j.Params.Over == overChained {
		return []int{1}
	}
	return []int{plan.Blocks}
}

// endEpoch closes an epoch and says what comes next: another, or the margin.
func (j job) endEpoch(s *state, plan jobs.Plan) jobs.Next {
	s.epochMistakes, s.epochUpdates = append(slices.Clone(s.epochMistakes), s.progress.mistakes),
		append(slices.Clone(s.epochUpdates), s.progress.updates)
	name := fmt.Sprintf("perceptron.epoch.%03d.", s.epoch+1)
	metrics := []jobs.Metric{jobs.CountMetric(name+"mistakes", s.progress.mistakes),
		jobs.CountMetric(name+"updates", s.progress.updates)}
	s.separated = s.progress.mistakes == 0
	s.progress = progress{epoch: s.epoch + 1}
	if s.separated || s.epoch >= int64(j.Params.Epochs) {
		return jobs.Next{Phase: marginName, State: jobs.ArraysOf(s), Metrics: metrics}
	}
	return jobs.Next{Phase: j.Params.Over, Trees: j.epochTrees(plan), State: jobs.ArraysOf(s), Metrics: metrics}
}

// begin begins with weights of zero, and checks the parameters with the space.
func (j job) begin(_ jobs.Arrays, space *features.Space, plan jobs.Plan) (jobs.Next, error) {
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
	return j.first(&model{space: space, Learner: NewLearner(setup, nil)}, plan)
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
func (j job) first(m *model, plan jobs.Plan) (jobs.Next, error) {
	if plan.Blocks == 0 {
		return jobs.Next{}, blocks.Empty()
	}
	s := &state{model: m}
	var err error
	if s.room, err = j.room(s); err != nil {
		return jobs.Next{}, err
	}
	if s.votes() > int(s.room) { // of a model to go on with
		m.own()
		m.trim(int(s.room))
	}
	return jobs.Next{Phase: j.Params.Over, Trees: j.epochTrees(plan), State: jobs.ArraysOf(s)}, nil
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
	_ context.Context, a jobs.Arrays, _ *jobs.Undecoded, round jobs.Round,
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
	return p.first(m, round.Plan)
}
