package perceptron

import (
	"cmp"
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/shuffle"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// chainedPhase learns from one block a round: its only leaf reads the one that the state names.
type chainedPhase struct{ job }

func (p *chainedPhase) phase() jobs.Phase {
	return jobs.MapReduce[*state, *jobs.Undecoded]{
		Name: overChained, State: jobs.Load[state], Partial: func() *jobs.Undecoded { return new(jobs.Undecoded) },
		Map: p.learn, Step: p.turn, Gathers: shuffle.Gathers(p.Params.Shuffle),
	}.Phase()
}

// learn learns from a block: linear in its values times the classes, and in the size of the state.
func (p *chainedPhase) learn(
	ctx context.Context, s *state, leaf jobs.Leaf, ops *kernelops.Set,
) (*jobs.Undecoded, error) {
	s.ops = ops
	block, err := p.blockAt(s, leaf.Plan.Blocks)
	if err != nil {
		return nil, err
	}
	s.beginVotes(int(s.room))
	s.own()
	extras, _, _ := s.extrasOf(p.extent(block))
	err = p.records(ctx, s.space, leaf.ReadBlock(ctx, jobs.Input, block), s.epoch, func(batch []Record) error {
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
	if err != nil {
		return nil, err
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

// turn takes over what the leaf learned and names the next block.
func (p *chainedPhase) turn(
	_ context.Context, s *state, root *jobs.Undecoded, round jobs.Round,
) (jobs.Next, error) {
	if err := p.take(s, root.Arrays, round.Plan.Blocks); err != nil {
		return jobs.Next{}, err
	}
	s.position++
	if s.position < int64(round.Plan.Blocks) {
		return jobs.Next{Phase: overChained, Trees: []int{1}, State: jobs.ArraysOf(s)}, nil
	}
	if s.steps == 0 {
		return jobs.Next{}, weightless()
	}
	return p.endEpoch(s, round.Plan), nil
}

// take moves what a leaf learned into the state.
func (p *chainedPhase) take(s *state, root jobs.Arrays, of int) error {
	block, err := p.blockAt(s, of)
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
	_, begin, end := s.extrasOf(p.extent(block))
	s.extras = slices.Replace(s.extras, begin, end, l.extras...)
	return nil
}

func weightless() error {
	return protocol.EmptyFault("all training records weigh nothing").
		WithHint("Give one of them a weight above 0.")
}
