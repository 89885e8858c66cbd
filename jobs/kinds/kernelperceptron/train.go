package kernelperceptron

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const trainName = "train"

// trainPhase learns from one shard a round.
type trainPhase struct{ job }

func (p *trainPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *state]{
		Name: trainName, State: jobs.Load[state], Partial: func() *state { return new(state) },
		Map: p.learn, Step: p.turn, Gathers: shuffle.Gathers(p.Params.Shuffle),
	}.Phase()
}

// learn learns from the shard that the state names; the partial is the state after it.
func (p *trainPhase) learn(ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set) (*state, error) {
	if s.position < 0 || s.position >= int64(leaf.Plan.Shards) {
		return nil, jobs.Malformed("position %d of an epoch over %d shards", s.position, leaf.Plan.Shards)
	}
	s.own()
	l, err := newLearner(s, p.Params, ops)
	if err != nil {
		return nil, err
	}
	l.maxState = p.MaxState
	shard := p.shardAt(s.epoch(), s.position, leaf.Plan.Shards)
	if err := p.visit(ctx, s.space, leaf, shard, s.epoch(), l.learn); err != nil {
		return nil, err
	}
	s.position++
	return s, nil
}

// turn goes on to the next shard, the next epoch or the end. Training records that all weigh
// nothing are a fault of CodeInputEmpty.
func (p *trainPhase) turn(_ context.Context, _, s *state, round jobs.Round) (jobs.Next, error) {
	next := jobs.Next{Phase: trainName, Trees: []int{1}, State: jobs.ArraysOf(s)}
	if s.position < int64(round.Plan.Shards) {
		return next, nil
	}
	if s.seen == 0 {
		return jobs.Next{}, protocol.EmptyFault("no training record weighs more than 0").
			WithHint("Give some records a weight above 0.")
	}
	epoch := len(s.mistakes)
	next.Metrics = []jobs.Metric{
		jobs.CountMetric(fmt.Sprintf("train.%03d.mistakes", epoch), s.mistakes[epoch-1]),
		jobs.CountMetric(fmt.Sprintf("train.%03d.supports", epoch), int64(s.supports())),
	}
	if s.mistakes[epoch-1] > 0 && epoch < p.Params.Epochs {
		s.own()
		s.beginEpoch()
		next.State = jobs.ArraysOf(s)
		return next, nil
	}
	return p.finish(s, round.Plan, next.Metrics)
}

// finish makes the model.
func (p *trainPhase) finish(s *state, plan jobs.Plan, metrics []jobs.Metric) (jobs.Next, error) {
	m := newModel(s)
	facts, err := m.metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	roads, err := s.roads.Metrics(s.kernel, "train")
	if err != nil {
		return jobs.Next{}, err
	}
	return p.Judge.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: slices.Concat(metrics, facts, roads)}, plan), nil
}
