package kernelmean

import (
	"context"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
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
	model afterBase
}

func newBasePhase(spec protocol.JobSpec, model afterBase) basePhase {
	return basePhase{jobs.TrainingRecords(spec), rows.Bound{Most: spec.Spec.Run.MaxStateBytes,
		What: "the training records take",
		Hint: "Raise run.max_state_bytes, or train on a part of the records: the kernel means of a model are " +
			"sums over all of them."}, model}
}

func (p basePhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *base]{
		Name: baseName, State: readSpace, Partial: func() *base { return new(base) },
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
	return gathered(leaf.Blocks(ctx), space, p.train(), p.bound)
}

// gathered is the records of blocks that keep chooses, within a bound.
func gathered(
	blocks iter.Seq2[*dataset.Block, error], space *features.Space, keep func(dataset.Identity) bool, bound rows.Bound,
) (*base, error) {
	b := newBase(space)
	for v, err := range space.Rows(blocks, keep) {
		if err != nil {
			return nil, err
		}
		b.add(v, 0, v.Rows)
		if err := bound.Check(b.bytes()); err != nil {
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

// Rows of a base that is not held are read a chunk at a time.
const (
	chunkValues = 1 << 20
	chunkBytes  = 4 * 4 * chunkValues // of a chunk, what it grew out of, its copy by class, and a tile of it
)

// chunkRows is how many rows of a width a chunk has. It is part of the results of
// KernelDensityBayes, whose terms are relative to the greatest of a chunk.
func chunkRows(width int) int { return max(1, min(rows.BaseRows, chunkValues/max(1, width))) }

// chunks calls visit with the records that keep chooses, most rows at a time and the rest, however they lie in blocks.
// A chunk is valid until the next.
func chunks(
	blocks iter.Seq2[*dataset.Block, error], space *features.Space, keep func(dataset.Identity) bool, most int,
	visit func(*base) error,
) error {
	chunk := newBase(space)
	for v, err := range space.Rows(blocks, keep) {
		if err != nil {
			return err
		}
		for from := 0; from < v.Rows; {
			to := min(v.Rows, from+most-chunk.N)
			chunk.add(v, from, to)
			if from = to; chunk.N < most {
				continue
			}
			if err := visit(chunk); err != nil {
				return err
			}
			chunk.reset()
		}
	}
	if chunk.N == 0 {
		return nil
	}
	return visit(chunk)
}
