package perceptron

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/blocks"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// chainedPhase learns from some blocks a round, one at a time: its only leaf reads those that come next.
type chainedPhase struct{ job }

func (p *chainedPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *jobs.Undecoded]{
		Name: overChained, State: jobs.Load[state], Partial: func() *jobs.Undecoded { return new(jobs.Undecoded) },
		Map: p.learn, Step: p.turn, Gathers: shuffle.Gathers(p.Params.Shuffle), Rounds: blocks.Most(p.Params.Epochs),
	}.Phase()
}

// learn learns from some blocks: linear in its values times the classes, and in the size of the state.
func (p *chainedPhase) learn(
	ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set,
) (*jobs.Undecoded, error) {
	s.ops = ops
	next, err := p.next(s, leaf.Plan)
	if err != nil {
		return nil, err
	}
	s.beginVotes(int(s.room))
	s.own()
	extras := map[int64]float32{}
	for _, block := range next {
		own, _, _ := s.extrasOf(p.extent(block))
		maps.Copy(extras, own)
	}
	way := p.newWay(s.space, s.epoch, func(batch []Record) error {
		if s.Distinct == 0 {
			s.LearnAll(batch)
			return nil
		}
		for _, r := range batch {
			own := extras[r.ordinal]
			if s.LearnDistinct(r.Row, int(r.Class), r.Weight, &own) {
				extras[r.ordinal] = own
			}
		}
		return nil
	})
	for _, block := range next {
		if err := way.over(ctx, leaf.ReadBlock(ctx, jobs.Input, block)); err != nil {
			return nil, err
		}
	}
	s.trim(s.MaxVectors)
	if err := s.fault(); err != nil {
		return nil, err
	}
	l := learned{s.Learner, s.Learner.mistakes, s.Learner.updates, sortedExtras(extras)}
	return &jobs.Undecoded{Arrays: jobs.ArraysOf(&l)}, nil
}

// learned is what a leaf learned.
type learned struct {
	learner           *Learner // of the state that it began from
	mistakes, updates int64
	extras            []extra
}

// Fields lists what a leaf learned.
func (l *learned) Fields(f *jobs.Fields) {
	l.learner.Fields(f)
	jobs.Tuple(f, "at", &l.mistakes, &l.updates)
	extraFields(f, &l.extras)
}

func sortedExtras(weights map[int64]float32) []extra {
	list := make([]extra, 0, len(weights))
	for record, weight := range weights { //lint:ordered sorted below
		list = append(list, extra{record, weight})
	}
	// total order: records differ
	slices.SortFunc(list, func(x, y extra) int { return cmp.Compare(x.record, y.record) })
	return list
}

// turn takes over what the leaf learned and goes on to the next blocks.
func (p *chainedPhase) turn(
	_ context.Context, s *state, root *jobs.Undecoded, round jobs.Round,
) (jobs.Next, error) {
	if err := p.take(s, root.Arrays, round.Plan); err != nil {
		return jobs.Next{}, err
	}
	if s.position < int64(round.Plan.Blocks) {
		return jobs.Next{Phase: overChained, Trees: []int{1}, State: jobs.ArraysOf(s)}, nil
	}
	if s.steps == 0 {
		return jobs.Next{}, weightless()
	}
	return p.endEpoch(s, round.Plan), nil
}

// take moves what a leaf learned into the state.
func (p *chainedPhase) take(s *state, root jobs.Arrays, plan jobs.Plan) error {
	next, err := p.next(s, plan)
	if err != nil {
		return err
	}
	before := *s.Learner
	l, err := jobs.Read(root, &learned{learner: s.Learner})
	if err != nil {
		return err
	}
	s.joinVotes(&before, int(s.room))
	s.progress.mistakes += l.mistakes
	s.progress.updates += l.updates
	for _, block := range next {
		_, begin, end := s.extrasOf(p.extent(block))
		s.extras = slices.Delete(s.extras, begin, end)
	}
	s.extras = append(s.extras, l.extras...)
	// total order: records differ
	slices.SortFunc(s.extras, func(x, y extra) int { return cmp.Compare(x.record, y.record) })
	s.position += int64(len(next))
	return nil
}

func weightless() error {
	return protocol.EmptyFault("all training records weigh nothing").
		WithHint("Give one of them a weight above 0.")
}
