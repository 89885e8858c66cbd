package perceptron

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rank"
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
	extras []extra // of distinct, by shard, then record
}

// progress counts epochs from 0, and in an epoch the shards done, the mistakes and the updates.
type progress struct{ epoch, position, mistakes, updates int64 }

// extra is the weight of a record's own feature. Records of a shard are numbered from 0 as they are read, test
// records left out.
type extra struct {
	shard  int32
	record int64
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
	shards, records, weights := make([]int32, n), make([]int64, n), make([]float32, n)
	for i, e := range *extras {
		shards[i], records[i], weights[i] = e.shard, e.record, e.weight
	}
	jobs.List(f, "distinct.shard", &shards)
	jobs.List(f, "distinct.record", &records, len(shards))
	jobs.List(f, "distinct.weight", &weights, len(shards))
	if !f.Reading() {
		return
	}
	*extras = make([]extra, len(shards))
	for i := range *extras {
		(*extras)[i] = extra{shards[i], records[i], weights[i]}
	}
}

// extrasOf returns the weights of a shard's own features by record, and where they stand in extras.
func (s *state) extrasOf(shard int) (weights map[int64]float32, begin, end int) {
	find := func(e extra, shard int32) int { return cmp.Compare(e.shard, shard) }
	begin, _ = slices.BinarySearchFunc(s.extras, int32(shard), find)
	end, _ = slices.BinarySearchFunc(s.extras, int32(shard)+1, find)
	weights = make(map[int64]float32, end-begin)
	for _, e := range s.extras[begin:end] {
		weights[e.record] = e.weight
	}
	return weights, begin, end
}

// order returns the shards in the order of an epoch.
func (j job) order(epoch int64, shards int) []int {
	key := philox.New(j.Seed, "perceptron/shards")
	return rank.Least(shards, func(shard int) uint64 {
		if !j.Params.Shuffle {
			return 0
		}
		return key.Uint64(uint64(epoch), uint64(shard))
	})
}

// endEpoch closes an epoch and says what comes next: another, or the margin.
func (j job) endEpoch(s *state) (next string, metrics []jobs.Metric) {
	s.epochMistakes, s.epochUpdates = append(slices.Clone(s.epochMistakes), s.progress.mistakes),
		append(slices.Clone(s.epochUpdates), s.progress.updates)
	name := fmt.Sprintf("perceptron.epoch.%03d.", s.epoch+1)
	metrics = []jobs.Metric{jobs.CountMetric(name+"mistakes", s.progress.mistakes),
		jobs.CountMetric(name+"updates", s.progress.updates)}
	s.separated = s.progress.mistakes == 0
	s.progress = progress{epoch: s.epoch + 1}
	if s.separated || s.epoch >= int64(j.Params.Epochs) {
		return marginName, metrics
	}
	return j.Params.Over, metrics
}

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
