package kernelmean

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/predictions"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// baseName names the phase that gathers the training records.
const baseName = "base"

// afterBase says what follows the base.
type afterBase func(*features.Space, *base, jobs.Plan) (jobs.Next, error)

// basePhase gathers the training records; model makes what follows.
type basePhase struct {
	train jobs.Records
	bound rows.Bound
	gaps  bool // rows may miss numbers
	model afterBase
}

func newBasePhase(spec protocol.JobSpec, gaps bool, model afterBase) basePhase {
	return basePhase{jobs.TrainingRecords(spec), rows.Bound{Most: spec.Spec.Run.MaxStateBytes,
		What: "the training records take",
		Hint: "Raise run.max_state_bytes, or train on a part of the records: the kernel means of a model are " +
			"sums over all of them."}, gaps, model}
}

func (p basePhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *base]{
		Name: baseName, State: readSpace, Partial: func() *base { return &base{Rows: rows.Rows{Gaps: p.gaps}} },
		Map: p.gather, Merge: p.merge, Step: p.finish,
		// the rows of the leaf, with what they grew out of, and their arrays
		Gathers: func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
			return 3 * records(jobs.Input, leaf.Index)
		},
	}.Phase()
}

// readSpace reads the space of a state; a sparse one that is too wide to be filled up is a
// *protocol.Fault of CodeInputLimit.
func readSpace(a jobs.Arrays) (space *features.Space, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { spaceField(f, &space) }))
	return space, err
}

func spaceField(f *jobs.Fields, space **features.Space) {
	rows.ReadSpace(f, space, "kernels spread rows out and take")
}

// gather reads one leaf: linear in its values.
func (p basePhase) gather(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, _ *kernelops.Set,
) (*base, error) {
	b := newBase(space)
	for v, err := range space.Rows(leaf.Blocks(ctx), p.train()) {
		if err != nil {
			return nil, err
		}
		b.add(v)
		if err := p.bound.Check(b.bytes()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// merge puts the rows of the right below those of the left.
func (p basePhase) merge(left, right *base) (*base, error) {
	if err := p.bound.Check(left.bytes() + right.bytes()); err != nil {
		return nil, err
	}
	return left, left.join(right)
}

// finish orders the rows by class. A class whose records weigh nothing is a fault of CodeInputEmpty.
func (p basePhase) finish(
	_ context.Context, space *features.Space, b *base, round jobs.Round,
) (jobs.Next, error) {
	if err := b.checkIn(space); err != nil {
		return jobs.Next{}, err
	}
	if err := weighSomething(space, b.classWeights(space.Labels.Len())); err != nil {
		return jobs.Next{}, err
	}
	next, err := p.model(space, b.byClass(), round.Plan)
	if err != nil {
		return jobs.Next{}, err
	}
	next.Metrics = append(next.Metrics, jobs.CountMetric("base.records", int64(b.N)))
	return next, nil
}

func weighSomething(space *features.Space, weights []float64) error {
	for y, w := range weights {
		if !(w > 0) {
			return protocol.EmptyFault("the training records of class %q weigh nothing", space.Labels.At(y)).
				WithHint("Give one of them a weight above 0.")
		}
	}
	return nil
}

// ending is what follows a model: it is judged, or decides the records to judge on and gives up its base.
type ending struct {
	evaluation.Judge
	decide *predictions.Phase // nil where the model keeps its base
}

// withBase is a model that can do without its base.
type withBase interface {
	jobs.Stored
	leaveBase()
}

func newEnding[M withBase](
	spec protocol.JobSpec, storeBase bool, load evaluation.Load, costs evaluation.Costs,
	read func(jobs.Arrays) (M, error),
) (ending, error) {
	judge, err := evaluation.JudgeOf(spec, load, costs)
	if err != nil || storeBase {
		return ending{Judge: judge}, err
	}
	if !judge.Judges() {
		return ending{}, protocol.SpecFault(
			"spec.params: without queries and split there is nothing to decide; set store_base for a model that predicts")
	}
	return ending{judge, &predictions.Phase{Params: predictions.Params{Format: parts.CSV}, Load: load,
		From: judge.Source(), Named: jobs.WayOf(spec.Spec, judge.Source()), Of: judge.Test(),
		Scoring: evaluation.ScoringOf(spec),
		Costs:   func(jobs.Arrays, []string) (evaluation.Costs, error) { return costs, nil },
		End: func(model jobs.Arrays, _ *parts.List) (jobs.Arrays, error) {
			m, err := read(model)
			if err != nil {
				return nil, err
			}
			m.leaveBase()
			return jobs.ArraysOf(m), nil
		}}}, nil
}

// End goes on from the model.
func (e ending) End(next jobs.Next, plan jobs.Plan) jobs.Next {
	next = e.Judge.End(next, plan)
	if e.decide != nil {
		next.Phase = predictions.Name
	}
	return next
}

// Phases are those that End goes on with.
func (e ending) Phases() []jobs.Phase {
	if e.decide != nil {
		return e.decide.Phases()
	}
	return e.Judge.Phases()
}
